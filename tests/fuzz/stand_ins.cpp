// In place of launcher/session.cpp and launcher/report_page.cpp, of which the options need one function each and which
// would bring the whole of the model.

#include "launcher/report_page.h"
#include "launcher/session.h"

namespace ut::launcher {

core::Steps steps_of(const Options&) { return {1, 1}; }

const std::vector<std::string>& picture_names() {
  static const std::vector<std::string> names = {"loss"};
  return names;
}

}  // namespace ut::launcher
