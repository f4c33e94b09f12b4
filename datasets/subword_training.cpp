#include "datasets/subword_training.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "datasets/subwords.h"
#include "datasets/task_options.h"
#include "datasets/translation.h"
#include "datasets/unicode.h"

namespace ut::datasets {
namespace {

constexpr std::int64_t ids_without_piece = end_of_sequence_id + 2;  // padding, end of a sequence, unknown
constexpr std::size_t usual_longest = 4192;    // bytes; by default the library silently leaves out longer lines
constexpr std::size_t most_pairs = 2'000'000;  // that are learned from; more would take too much memory

/// Both lines of every n-th pair, in the form that the library asks for.
class PairLines final : public sentencepiece::SentenceIterator {
 public:
  explicit PairLines(const std::deque<ParallelLines>& texts) {
    std::size_t pairs = 0;
    for (const ParallelLines& text : texts) pairs += text.size();
    const std::size_t every = (pairs + most_pairs - 1) / most_pairs;
    std::size_t pair = 0;
    for (const ParallelLines& text : texts) {
      for (std::size_t line = 0; line < text.size(); ++line) {
        if (pair++ % every != 0) continue;
        add(text.source(line));
        add(text.target(line));
      }
    }
    load();
  }

  bool done() const override { return next_ == lines_.size(); }
  void Next() override {
    ++next_;
    load();
  }
  const std::string& value() const override { return line_; }
  /// Bytes of the longest line; 0 if there is none.
  std::size_t longest() const {
    std::size_t most = 0;
    for (const std::string_view line : lines_) most = std::max(most, line.size());
    return most;
  }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void add(std::string_view line) {
    if (!line.empty()) lines_.push_back(line);
  }
  void load() {
    if (!done()) line_ = with_plain_spaces(lines_[next_]);
  }

  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;
  std::string line_;
};

/// What the library says is wrong, without the name of its source file before it, in brackets, and with options under
/// our names.
std::string reason(const std::string& status) {
  const std::size_t own = status.rfind("] ");
  std::string message = own == std::string::npos || own + 2 == status.size() ? status : status.substr(own + 2);
  for (const auto& [theirs, ours] : {std::pair<std::string, std::string>("character_coverage", "character-coverage"),
                                     std::pair<std::string, std::string>("vocab_size", "vocabulary-size")})
    for (std::size_t at = message.find(theirs); at != std::string::npos; at = message.find(theirs))
      message.replace(at, theirs.size(), ours);
  return message;
}

/// The library would silently replace what is not UTF-8.
void check_utf8(const ParallelLines& lines, const ParallelFiles& files) {
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (const bool source : {true, false})
      if (!is_utf8(source ? lines.source(line) : lines.target(line)))
        throw base::BadInput("{}:{}: is not UTF-8; text in UTF-8 is needed",
                             (source ? files.source : files.target).string(), line + 1);
}

}  // namespace

std::string train_subwords(const TaskOptions& files, const SubwordTraining& training) {
  if (training.vocabulary_size <= ids_without_piece)  // the library refuses it without saying why
    throw base::BadInput(
        "--vocabulary-size {}: needs more than {}, the number that padding, end and unknown take; each character of "
        "the text takes one more",
        training.vocabulary_size, ids_without_piece);
  std::deque<ParallelLines> texts;
  for (const ParallelFiles& set : translation_files(files, Split::train)) check_utf8(texts.emplace_back(set), set);
  PairLines lines(texts);
  const std::size_t longest = lines.longest();
  if (longest == 0) throw base::BadInput("{}: the training files have no text, all their lines are empty", files.data);
  const bool has_soft_limit = training.kind == "word" || training.kind == "char";
  // The reserved ids are those of every task's vocabulary.
  std::unordered_map<std::string, std::string> settings = {
      {"model_type", training.kind},
      {"vocab_size", fmt::format("{}", training.vocabulary_size)},
      {"hard_vocab_limit", has_soft_limit ? "false" : "true"},
      {"character_coverage", fmt::format("{}", training.character_coverage)},
      {"pad_id", fmt::format("{}", padding_id)},
      {"eos_id", fmt::format("{}", end_of_sequence_id)},
      {"unk_id", fmt::format("{}", ids_without_piece - 1)},
      {"bos_id", "-1"},
      {"num_threads", "4"},  // fixed, not the number of cores: the model depends on it
      {"minloglevel", "2"}};
  if (training.kind == "word")  // the usual rules would make one symbol of x² and x2
    settings["normalization_rule_name"] = "identity";
  if (longest > usual_longest)  // only then: the model records this option
    settings["max_sentence_length"] = fmt::format("{}", longest);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &model);
  if (!status.ok())
    throw base::BadInput("--vocabulary-size {}: no model of that size can be made of {}: {}", training.vocabulary_size,
                         files.data, reason(status.ToString()));
  return model;
}

}  // namespace ut::datasets
