#pragma once

#include <cstdint>
#include <string>

#include "datasets/task_options.h"

namespace ut::datasets {

struct SubwordTraining {
  std::int64_t vocabulary_size = 8000;  // pieces of both languages together, padding and end of sequence included
  std::string kind = "unigram";         // or bpe; word, char: at most so many pieces
  double character_coverage = 1;        // share of the text's characters that pieces are made of; the others are <unk>
};

/// A SentencePiece model of both languages of the training sets that `files` chooses, as its file holds it: what
/// Subwords takes. Of very long texts only every n-th pair is learned from. The same for the same files and options.
/// Throws base::BadInput where the text is too short for such a vocabulary, or cannot be read.
std::string train_subwords(const TaskOptions& files, const SubwordTraining& training);

}  // namespace ut::datasets
