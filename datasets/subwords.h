#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/vocabulary.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace ut::datasets {

/// Name of a SentencePiece model in a directory of data or of a run.
inline constexpr const char* subword_model_name = "sentencepiece.model";

/// The line with spaces for tabs, form feeds and carriage returns, as the library's usual rules have it. The identity,
/// the rule of models of words, lets words end at spaces only.
std::string with_plain_spaces(std::string_view line);

/// Cuts text into pieces of words, and joins them again, by a SentencePiece model (Kudo and Richardson, 2018). The
/// vocabulary has the model's pieces in their order, without control symbols, which no text has. Its digest covers the
/// model too.
class Subwords {
 public:
  /// `model`: the content of a model's file; `name`: the file's name in messages. Throws base::BadInput if it is no
  /// model.
  Subwords(std::string model, const std::string& name);
  Subwords(Subwords&&) noexcept;
  Subwords& operator=(Subwords&&) noexcept;
  ~Subwords();

  const std::string& model() const { return model_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// The pieces of a line, without end of sequence. Throws base::BadInput if it is not UTF-8, std::runtime_error if the
  /// library cannot cut it.
  std::vector<std::int32_t> ids(std::string_view line) const;
  /// The text that the pieces make, as a person writes it. Padding and end of sequence give nothing. Throws
  /// std::out_of_range if an id is above the vocabulary's, std::runtime_error if the library cannot join them.
  std::string text(std::span<const std::int64_t> ids) const;

 private:
  std::string model_;
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::int32_t> id_of_piece_;  // ours, by the library's number; -1: a control symbol
  std::vector<int> piece_of_id_;           // the library's, by our id
  Vocabulary vocabulary_;
};

}  // namespace ut::datasets
