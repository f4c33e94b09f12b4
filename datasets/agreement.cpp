#include "datasets/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "base/file.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t most_attractors = 5;
constexpr std::uint8_t unknown_attractors = most_attractors + 1;

using Take =
    std::function<void(std::string_view line, const std::vector<std::string_view>& words, std::string_view verb)>;

/// Lines `VBZ<tab>words` or `VBP<tab>words`.
void read_sentences(const fs::path& file, const Take& take) {
  const std::string content = base::read_file(file);
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    const auto fail = [&](std::string_view what) {
      throw base::BadInput(fmt::format("{}:{}: {}; a line is VBZ or VBP, a tab, and the words before the verb",
                                       file.string(), number, what));
    };
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) fail("no tab");
    const std::string_view verb = line.substr(0, tab);
    if (verb != "VBZ" && verb != "VBP") fail(fmt::format("'{}' before the tab", verb));
    const std::vector<std::string_view> words = split_at_spaces(line.substr(tab + 1));
    if (words.empty()) fail("no words");
    take(line, words, verb);
  });
}

}  // namespace

Agreement::Agreement(const TaskOptions& options) {
  const fs::path directory = data_directory(options.data, "numpred.* files");
  directory_ = directory.string();
  read_training(directory);
  read_tests(directory);
  number_words(std::numeric_limits<std::int64_t>::max(), directory_);
}

void Agreement::read_training(const fs::path& directory) {
  const fs::path train = directory / "numpred.train";
  const bool has_train = fs::exists(train);
  if (has_train) {
    read_sentences(train, [&](std::string_view, const auto& words, std::string_view verb) {
      add(Split::train, words, verb, unknown_attractors);
    });
  } else {
    missing_.push_back(train.filename().string());
  }
  read_sentences(directory / "numpred.val", [&](std::string_view line, const auto& words, std::string_view verb) {
    const bool validates = has_train || text_hash(line) % 10 == 0;
    add(validates ? Split::validation : Split::train, words, verb, unknown_attractors);
  });
}

void Agreement::read_tests(const fs::path& directory) {
  for (std::uint8_t attractors = 0; attractors <= most_attractors; ++attractors) {
    const fs::path file = directory / fmt::format("numpred.test.{}", attractors);
    if (!fs::exists(file)) {
      missing_.push_back(file.filename().string());
      continue;
    }
    read_sentences(file, [&](std::string_view, const auto& words, std::string_view verb) {
      add(Split::test, words, verb, attractors);
    });
  }
}

std::string Agreement::description() const {
  std::string text =
      fmt::format("agreement: {}: {} training, {} validation and {} test sentences, {} symbols", directory_,
                  size(Split::train), size(Split::validation), size(Split::test), vocabulary().size());
  if (!missing_.empty()) text += fmt::format("; missing: {}", fmt::join(missing_, ", "));
  return text;
}

std::vector<std::string> Agreement::groups() const {
  std::vector<std::string> names;
  for (int attractors = 0; attractors <= most_attractors; ++attractors)
    names.push_back(fmt::format("{} attractor{}", attractors, attractors == 1 ? "" : "s"));
  names.emplace_back("attractors unknown");
  return names;
}

}  // namespace ut::datasets
