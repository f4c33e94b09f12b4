#include "datasets/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <limits>
#include <optional>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"
#include "datasets/dependencies.h"
#include "datasets/lines.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

constexpr const char* numbers_to_learn = "numpred.train";
constexpr const char* numbers_to_validate = "numpred.val";
constexpr std::uint8_t most_attractors = 5;
constexpr std::uint8_t unknown_attractors = most_attractors + 1;

std::string numbers_to_test(int attractors) { return fmt::format("numpred.test.{}", attractors); }

using Take =
    std::function<void(std::string_view line, const std::vector<std::string_view>& words, std::string_view verb)>;

/// Lines `VBZ<tab>words` or `VBP<tab>words`.
void read_prefixes(const fs::path& file, const Take& take) {
  const std::string content = base::read_file(file);
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    check_line(line, file.string(), number);
    const auto fail = [&](std::string_view what) {
      throw base::BadInput("{}:{}: {}; a line is VBZ or VBP, a tab, and the words before the verb", file.string(),
                           number, what);
    };
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) fail("no tab");
    const std::string_view verb = line.substr(0, tab);
    if (verb != "VBZ" && verb != "VBP") fail(fmt::format("'{}' before the tab", verb));
    const std::vector<std::string_view> words = split_at_spaces(line.substr(tab + 1));
    if (words.empty()) fail("no words");
    check_words(words, file.string(), number);
    take(line, words, verb);
  });
}

bool has_prefixes(const fs::path& directory) {
  std::error_code code;
  for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code))
    if (entry->path().filename().string().starts_with("numpred.")) return true;
  return false;
}

/// The verb of a sentence.
struct Verb {
  std::size_t place = 0;  // among the sentence's words, from 0
  std::string_view right;
  std::string_view wrong;
  std::uint8_t attractors = 0;
};

/// Lines `place<tab>right form<tab>wrong form<tab>attractors`; the forms point into `content`.
std::vector<Verb> read_verbs(const fs::path& file, std::string_view content) {
  std::vector<Verb> verbs;
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    check_line(line, file.string(), number);
    const std::vector<std::string_view> columns = split_at_spaces(line);
    const bool has_all = columns.size() == 4;
    const auto place = has_all ? base::parse_number<std::size_t>(columns[0]) : std::nullopt;
    const auto attractors = has_all ? base::parse_number<std::uint8_t>(columns[3]) : std::nullopt;
    if (place.value_or(0) == 0 || attractors.value_or(unknown_attractors) > most_attractors)
      throw base::BadInput(
          "{}:{}: '{}'; a line is the verb's place (at least 1; words are counted from 0), its right form, its wrong "
          "form and the number of attractors (at most {})",
          file.string(), number, line, most_attractors);
    check_words(columns, file.string(), number);
    verbs.push_back({*place, columns[1], columns[2], *attractors});
  });
  return verbs;
}

}  // namespace

std::vector<std::string> agreement_number_files() {
  std::vector<std::string> names = {numbers_to_learn, numbers_to_validate};
  for (int attractors = 0; attractors <= most_attractors; ++attractors) names.push_back(numbers_to_test(attractors));
  return names;
}

fs::path find_agreement_directory(const std::string& data, AgreementForm form) {
  const fs::path directory = data_directory(data, "numpred.* files");
  const std::array places{directory, directory / "linzen2016_rnn_agr_simple",
                          directory / "linzen2016_gulordava_filtered_testset"};
  for (const fs::path& place : places)
    if (has_prefixes(place) ||
        (form == AgreementForm::language_model && base::path_exists(place / agreement_sentences)))
      return place;
  for (const fs::path& place : places)
    if (base::path_exists(place / dependencies_table)) return place;
  return {};
}

Agreement::Agreement(const TaskOptions& options)
    : MissingWord(options.agreement_form == AgreementForm::language_model ? Form::all_words : Form::class_of_it) {
  const fs::path found = find_agreement_directory(options.data, options.agreement_form);
  const fs::path directory = found.empty() ? fs::path(options.data) : found;
  const bool has_sentences = form() == Form::all_words && base::path_exists(directory / agreement_sentences);
  const bool has_table =
      !has_sentences && !has_prefixes(directory) && base::path_exists(directory / dependencies_table);
  const bool splits_itself = has_table || has_sentences || base::path_exists(directory / numbers_to_learn);
  ignores_train_share_ = splits_itself && options.agreement_train_share > 0;
  if (has_sentences)
    read_sentences(directory);
  else if (has_table)
    read_table(directory / dependencies_table);
  else
    read_numbers(directory, splits_itself ? 0 : options.agreement_train_share);
  directory_ = (has_table ? directory / dependencies_table : directory).string();
  number_words(std::numeric_limits<std::int64_t>::max(), directory_);
}

void Agreement::read_table(const fs::path& file) {
  const std::string content = base::read_file(file);
  std::optional<VerbForms> forms;
  if (form() == Form::all_words) forms.emplace(content, file.string());
  for_each_dependency(content, file.string(), [&](std::string_view line, const Dependency& dependency) {
    const std::uint64_t hundredth = text_hash(line) % 100;
    const Split split = hundredth < 9 ? Split::train : hundredth == 9 ? Split::validation : Split::test;
    const bool counts = dependency.attractors == dependency.nouns && dependency.attractors <= most_attractors;
    if (dependency.verb == 0 || (split == Split::test && !counts)) {
      ++left_out_;
      return;
    }
    std::vector<std::string_view> words = dependency.words;
    words.resize(dependency.verb);
    const auto [right, wrong] =
        forms ? forms->right_and_wrong(dependency) : std::pair(std::string(dependency.verb_tag), std::string());
    add(split, words, right, counts ? static_cast<std::uint8_t>(dependency.attractors) : unknown_attractors, wrong);
  });
  for (const auto& [split, share] : {std::pair(Split::train, 9), std::pair(Split::validation, 1)})
    if (size(split) == 0)
      throw base::BadInput("{}: none of its lines is a {} example; {} of 100 lines are, so more lines are needed",
                           file.string(), name_of(split), share);
}

void Agreement::read_numbers(const fs::path& directory, double train_share) {
  read_training(directory);
  read_tests(directory, train_share);
}

void Agreement::read_training(const fs::path& directory) {
  const fs::path validation = directory / numbers_to_validate;
  if (!base::path_exists_checked(validation))
    throw base::BadInput(
        "{}: no such file; --data needs a directory with it and numpred.test.0 to numpred.test.{}, or with {}, "
        "unpacked, or, for --agreement-form language-model, with {} and {}",
        validation.string(), most_attractors, dependencies_table, agreement_sentences, agreement_verbs);
  const fs::path train = directory / numbers_to_learn;
  const bool has_train = base::path_exists(train);
  if (has_train) {
    read_prefixes(train, [&](std::string_view, const auto& words, std::string_view verb) {
      add(Split::train, words, verb, unknown_attractors, other_tag(verb));
    });
  } else {
    missing_.push_back(train.filename().string());
  }
  read_prefixes(validation, [&](std::string_view line, const auto& words, std::string_view verb) {
    const bool validates = has_train || text_hash(line) % 10 == 0;
    add(validates ? Split::validation : Split::train, words, verb, unknown_attractors, other_tag(verb));
  });
  for (const Split split : {Split::train, Split::validation})
    if (!has_train && size(split) == 0)
      throw base::BadInput(
          "{}: none of its lines is a {} example; without {}, one line in ten, by its hash, is for validation and the "
          "others are for training, so more different lines are needed",
          validation.string(), name_of(split), numbers_to_learn);
}

void Agreement::read_tests(const fs::path& directory, double train_share) {
  constexpr std::uint64_t parts = 1000;
  for (std::uint8_t attractors = 0; attractors <= most_attractors; ++attractors) {
    const fs::path file = directory / numbers_to_test(attractors);
    if (!base::path_exists(file)) {
      missing_.push_back(file.filename().string());
      continue;
    }
    read_prefixes(file, [&](std::string_view line, const auto& words, std::string_view verb) {
      const bool trains = static_cast<double>(text_hash(line) % parts) < train_share * parts;
      add(trains ? Split::train : Split::test, words, verb, attractors, other_tag(verb));
    });
  }
}

void Agreement::read_sentences(const fs::path& directory) {
  const fs::path file = directory / agreement_sentences;
  const std::string content = base::read_file(file);
  const fs::path verbs_file = directory / agreement_verbs;
  if (!base::path_exists_checked(verbs_file))
    throw base::BadInput("{}: no such file; it says where the verb is in each line of {}", verbs_file.string(),
                         agreement_sentences);
  const std::string verbs_content = base::read_file(verbs_file);
  const std::vector<Verb> verbs = read_verbs(verbs_file, verbs_content);
  std::size_t lines = 0;
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    lines = number;
    check_line(line, file.string(), number);
    if (number > verbs.size()) return;
    const Verb& verb = verbs[number - 1];
    std::vector<std::string_view> words = split_at_spaces(line);
    if (!words.empty() && words.back() == "<eos>") words.pop_back();
    if (verb.place >= words.size())
      throw base::BadInput("{}:{}: {} words, but {} has the verb at {}, counted from 0", file.string(), number,
                           words.size(), verbs_file.filename().string(), verb.place);
    words[verb.place] = verb.right;
    check_words(words, file.string(), number);
    const std::uint64_t tenth = text_hash(line) % 10;
    const Split split = tenth == 0 ? Split::validation : tenth <= 2 ? Split::test : Split::train;
    if (split != Split::train) words.resize(verb.place + 1);
    const std::string_view last = words.back();
    words.pop_back();
    add(split, words, last, verb.attractors, split == Split::train ? std::string_view() : verb.wrong);
  });
  if (lines != verbs.size())
    throw base::BadInput("{}: {} sentences, but {} has {} lines; needs one for each", file.string(), lines,
                         verbs_file.filename().string(), verbs.size());
}

std::string Agreement::description() const {
  std::string text =
      fmt::format("agreement: {}: {} training, {} validation and {} test sentences, {} symbols", directory_,
                  size(Split::train), size(Split::validation), size(Split::test), vocabulary().size());
  if (const auto unknown = unanswerable(Split::test); form() == Form::all_words && unknown > 0)
    text += fmt::format("; a form of the verb of {} test sentences is not among the symbols", unknown);
  if (left_out_ > 0)
    text += fmt::format(
        "; {} more are left out: before the verb they have other nouns than up to {} attractors, or nothing", left_out_,
        most_attractors);
  if (ignores_train_share_) text += "; the data has its own split, so --agreement-train-share is ignored";
  if (!missing_.empty()) text += fmt::format("; missing: {}", fmt::join(missing_, ", "));
  return text;
}

std::vector<std::string> Agreement::groups() const {
  std::vector<std::string> names;
  for (int attractors = 0; attractors <= most_attractors; ++attractors)
    names.push_back(base::counted(attractors, "attractor"));
  names.emplace_back("attractors unknown");
  return names;
}

}  // namespace ut::datasets
