#include "datasets/published.h"
#include "datasets/stories.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

constexpr std::int64_t most_questions = datasets::most_stories * datasets::questions_per_story;

OptionEntry output_path(std::string placeholder, std::string description) {
  return path(
      "out", std::move(placeholder), std::move(description), [](auto& o) -> auto& { return o.data.out; });
}

}  // namespace

void add_stories(Table& table) {
  table.add("Stories", command_data_stories, false,
            {whole(
                 "facts", "supporting facts of each question", [](auto& o) -> auto& { return o.data.facts; }, 1, 3),
             whole(
                 "train", "questions to train on, rounded up to whole stories of 5",
                 [](auto& o) -> auto& { return o.data.train; }, 1, most_questions),
             whole(
                 "validation", "questions to validate on, rounded up too; 0: no such file",
                 [](auto& o) -> auto& { return o.data.validation; }, 0, most_questions),
             whole(
                 "test", "questions to test on, rounded up too", [](auto& o) -> auto& { return o.data.test; }, 1,
                 most_questions),
             output_path("DIR", "directory to write the files to"),
             whole(
                 "seed", "seed of the stories", [](auto& o) -> auto& { return o.seed; }, 0)});
}

void add_sentencepiece(Table& table) {
  table.add("Pieces", command_data_sentencepiece, false,
            {whole(
                 "vocabulary-size", "number of pieces, shared by both languages",
                 [](auto& o) -> auto& { return o.data.pieces.vocabulary_size; }, 1, 1 << 24),
             one_of("model-kind", "how text is cut into pieces; word and char may give fewer of them",
                    [](auto& o) -> auto& { return o.data.pieces.kind; }, {"unigram", "bpe", "word", "char"}),
             real(
                 "character-coverage", "share of the text's characters that pieces cover; the rarest are left out",
                 [](auto& o) -> auto& { return o.data.pieces.character_coverage; }, "a number from 0.98 to 1",
                 [](double x) { return x >= 0.98 && x <= 1; }),
             output_path("FILE", "where to write the model; default: sentencepiece.model in --data")});
}

void add_fetch(Table& table) {
  table.add(
      "Fetch", command_data_fetch, false,
      {path(
           "name", "NAME",
           fmt::format("the data set (--name may be left out): {}", fmt::join(datasets::published_names(), ", ")),
           [](auto& o) -> auto& { return o.data.name; }),
       path(
           "from", "DIR", "folder with its archive, as published or ours; default: fetch it from its public address",
           [](auto& o) -> auto& { return o.data.from; }),
       output_path("DIR", "directory to unpack it to; default: one of its name, here")});
}

}  // namespace ut::launcher::option_groups
