#include "launcher/start/library_warnings.h"

#include <c10/util/Exception.h>

#include <set>
#include <string>

#include "launcher/process/say.h"

namespace ut::launcher {
namespace {

/// All parameters of our models are one tensor, for their one all-reduce. So a recurrent layer's weights are not one
/// tensor by themselves, which LibTorch warns of.
bool is_of_our_choice(const std::string& text) { return text.starts_with("RNN module weights are not part of single"); }

class EachOnce final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    if (is_of_our_choice(text)) return;
    if (said_.insert(text).second) say("LibTorch: " + text.substr(0, text.find('\n')));
  }

 private:
  std::set<std::string> said_;
};

}  // namespace

void say_library_warnings_once() {
  static EachOnce handler;  // the library keeps its address
  c10::WarningUtils::set_warning_handler(&handler);
}

}  // namespace ut::launcher
