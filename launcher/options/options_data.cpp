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
  table.add(
      "Stories", command_data_stories, false,
      {whole(
           "facts", "supporting facts of each question", [](auto& o) -> auto& { return o.data.facts; }, 1, 3),
       whole(
           "train", "questions to train on, rounded up to whole stories of 5",
           [](auto& o) -> auto& { return o.data.train; }, 1, most_questions),
       whole(
           "validation", "questions to validate on, likewise; 0: no such file",
           [](auto& o) -> auto& { return o.data.validation; }, 0, most_questions),
       whole(
           "test", "questions to test on, likewise", [](auto& o) -> auto& { return o.data.test; }, 1, most_questions),
       output_path("DIR", "directory the files are written to"),
       whole(
           "seed", "of the stories", [](auto& o) -> auto& { return o.seed; }, 0)});
}

void add_sentencepiece(Table& table) {
  table.add("Pieces", command_data_sentencepiece, false,
            {whole(
                 "vocabulary-size", "pieces, of both languages together",
                 [](auto& o) -> auto& { return o.data.pieces.vocabulary_size; }, 1, 1 << 24),
             one_of("model-kind", "how text is cut; with word and char there may be fewer pieces",
                    [](auto& o) -> auto& { return o.data.pieces.kind; }, {"unigram", "bpe", "word", "char"}),
             real(
                 "character-coverage", "share of the text's characters that pieces are made of; the rarest are not",
                 [](auto& o) -> auto& { return o.data.pieces.character_coverage; }, "a number from 0.98 to 1",
                 [](double x) { return x >= 0.98 && x <= 1; }),
             output_path("FILE", "where the model is written; without it sentencepiece.model in --data")});
}

void add_fetch(Table& table) {
  table.add(
      "Fetch", command_data_fetch, false,
      {path(
           "name", "NAME",
           fmt::format("the data set, which can be given without --name: {}",
                       fmt::join(datasets::published_names(), ", ")),
           [](auto& o) -> auto& { return o.data.name; }),
       path(
           "from", "DIR", "a folder that has its archive, as published or ours; without it from its public address",
           [](auto& o) -> auto& { return o.data.from; }),
       output_path("DIR", "directory that it is unpacked to; without it one of its name, here")});
}

}  // namespace ut::launcher::option_groups
