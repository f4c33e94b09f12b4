#include "datasets/published.h"
#include "datasets/stories.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

using datasets::SubwordTraining;

constexpr std::int64_t most_questions = datasets::most_stories * datasets::questions_per_story;

OptionEntry output_path(std::string placeholder, std::string description) {
  return path("out", std::move(placeholder), std::move(description), in(&Options::data, &DataOptions::out));
}

}  // namespace

void add_stories(Table& table) {
  table.add(
      "Stories", command_data_stories, false,
      {whole("facts", "supporting facts of each question", in(&Options::data, &DataOptions::facts), 1, 3),
       whole("train", "questions to train on, rounded up to whole stories of 5",
             in(&Options::data, &DataOptions::train), 1, most_questions),
       whole("validation", "questions to validate on, rounded up too; 0: no such file",
             in(&Options::data, &DataOptions::validation), 0, most_questions),
       whole("test", "questions to test on, rounded up too", in(&Options::data, &DataOptions::test), 1, most_questions),
       output_path("DIR", "directory to write the files to"), whole("seed", "seed of the stories", &Options::seed, 0)});
}

void add_sentencepiece(Table& table) {
  table.add(
      "Pieces", command_data_sentencepiece, false,
      {whole("vocabulary-size", "number of pieces, shared by both languages",
             in(&Options::data, &DataOptions::pieces, &SubwordTraining::vocabulary_size), 1, 1 << 24),
       one_of("model-kind", "how text is cut into pieces; word and char may give fewer of them",
              in(&Options::data, &DataOptions::pieces, &SubwordTraining::kind), {"unigram", "bpe", "word", "char"}),
       real("character-coverage", "share of the text's characters that pieces cover; the rarest are left out",
            in(&Options::data, &DataOptions::pieces, &SubwordTraining::character_coverage), "a number from 0.98 to 1",
            [](double x) { return x >= 0.98 && x <= 1; }),
       output_path("FILE", "where to write the model; default: sentencepiece.model in --data")});
}

void add_fetch(Table& table) {
  table.add(
      "Fetch", command_data_fetch, false,
      {path("name", "NAME",
            fmt::format("the data set (--name may be left out): {}", fmt::join(datasets::published_names(), ", ")),
            in(&Options::data, &DataOptions::name)),
       path("from", "DIR", "folder with its archive, as published or ours; default: fetch it from its public address",
            in(&Options::data, &DataOptions::from)),
       output_path("DIR", "directory to unpack it to; default: one of its name, here")});
}

}  // namespace ut::launcher::option_groups
