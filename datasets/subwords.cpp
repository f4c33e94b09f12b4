#include "datasets/subwords.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "datasets/unicode.h"

namespace ut::datasets {
namespace {

constexpr int reserved_ids = 2;  // padding and end of sequence

}  // namespace

std::string with_plain_spaces(std::string_view line) {
  std::string text(line);
  const auto is_other_space = [](char byte) { return byte == '\t' || byte == '\f' || byte == '\r'; };
  std::ranges::replace_if(text, is_other_space, ' ');
  return text;
}

Subwords::Subwords(std::string model, const std::string& name)
    : model_(std::move(model)),
      processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()),
      piece_of_id_(reserved_ids, -1),
      vocabulary_({}) {
  if (model_.empty() || !processor_->LoadFromSerializedProto(model_).ok())
    throw base::BadInput("{}: is no SentencePiece model; ut data sentencepiece makes one", name);
  std::vector<std::string> words;
  for (int piece = 0; piece < processor_->GetPieceSize(); ++piece) {
    const bool is_text = !processor_->IsControl(piece);
    id_of_piece_.push_back(is_text ? static_cast<std::int32_t>(piece_of_id_.size()) : -1);
    if (!is_text) continue;
    words.push_back(processor_->IdToPiece(piece));
    piece_of_id_.push_back(piece);
  }
  try {
    vocabulary_ = Vocabulary(words, base::digest(model_.data(), model_.size()));
  } catch (const std::invalid_argument& error) {
    throw base::BadInput("{}: cannot be used: {}", name, error.what());
  }
}

Subwords::Subwords(Subwords&&) noexcept = default;
Subwords& Subwords::operator=(Subwords&&) noexcept = default;
Subwords::~Subwords() = default;

std::vector<std::int32_t> Subwords::ids(std::string_view line) const {
  from_utf8(line);  // throws
  std::vector<int> pieces;
  if (const auto status = processor_->Encode(with_plain_spaces(line), &pieces); !status.ok())
    throw std::runtime_error(status.ToString());
  std::vector<std::int32_t> ids;
  ids.reserve(pieces.size());
  for (const int piece : pieces) ids.push_back(id_of_piece_.at(static_cast<std::size_t>(piece)));
  return ids;
}

std::string Subwords::text(std::span<const std::int64_t> ids) const {
  std::vector<int> pieces;
  for (const std::int64_t id : ids)
    if (id >= reserved_ids) pieces.push_back(piece_of_id_.at(static_cast<std::size_t>(id)));
  std::string text;
  if (const auto status = processor_->Decode(pieces, &text); !status.ok()) throw std::runtime_error(status.ToString());
  return text;
}

}  // namespace ut::datasets
