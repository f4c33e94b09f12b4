#pragma once

#include <cstdint>
#include <string>

#include "datasets/task_options.h"

namespace ut::datasets {

struct SubwordTraining {
  std::int64_t vocabulary_size = 8000;  // pieces of both languages together, padding and end of sequence included
  /// unigram or bpe; with word or char the size is an upper limit. Only word leaves all characters as they are.
  std::string kind = "unigram";
  double character_coverage = 1;  // share of the text's characters that pieces cover; the others are <unk>
};

/// Trains a SentencePiece model on both languages of the training sets that `files` chooses. Returns the content of its
/// file, which Subwords takes. Of very long texts only every n-th pair is learned from. The result is the same for the
/// same files and options. Throws base::BadInput if the text is too short for such a vocabulary, or cannot be read.
std::string train_subwords(const TaskOptions& files, const SubwordTraining& training);

}  // namespace ut::datasets
