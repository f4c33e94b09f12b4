#include "tests/golden/padded_rows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dist/running_exchange.h"

namespace ut::golden {
namespace {

class PaddedExchange final : public dist::SequenceExchange {
 public:
  explicit PaddedExchange(const at::Tensor& real)
      : real_(real.ne(0).contiguous()), length_(real.size(1)), seen_rows_(real_rows(real)) {
    const auto seen = sequences_of(real);  // refuses a sequence without real positions
    const std::vector<std::int64_t> whole(seen.ids.size(), length_);
    local_ = dist::rows_of({seen.ids, whole}, 0, 1);
    all_ = {local_.sequence.index_select(0, seen_rows_), local_.position.index_select(0, seen_rows_), {0}};
    for (const std::int64_t length : seen.lengths) all_.offsets.push_back(all_.offsets.back() + length);
    holdings_.group = group_.get();
  }

  const dist::Rows& local() const override { return local_; }
  const dist::Rows& all() const override { return all_; }
  const dist::Holdings& holdings() const override { return holdings_; }

  dist::PendingTensor start_gather(const at::Tensor& rows) const override {
    return [all = rows.index_select(0, seen_rows_)] { return all; };
  }

  dist::Neighbours neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const override {
    const auto* real = real_.const_data_ptr<bool>();
    std::vector<std::int64_t> table;
    for (std::int64_t row = 0; row < local_.count(); ++row)
      for (std::int64_t offset = -before; offset <= after; ++offset) {
        const std::int64_t position = row % length_ + offset;
        const bool is_seen = position >= 0 && position < length_ && real[row + offset];
        table.push_back(is_seen ? row + offset : -1);
      }
    return {rows, {}, at::tensor(table, at::kLong).view({local_.count(), before + 1 + after})};
  }

  std::function<bool()> start_any(bool mine) const override {
    return [mine] { return mine; };
  }
  std::unique_ptr<dist::RunningExchange> running(double) const override {
    throw NotSupported("padding with halted positions that are copied: the authors' code has no such thing");
  }

 private:
  at::Tensor real_;  // [sequences, length] bool
  std::int64_t length_;
  at::Tensor seen_rows_;  // [all rows] int64
  dist::Rows local_;
  dist::Rows all_;
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  dist::Holdings holdings_{};
};

class ZeroAtPadding final : public core::Transition {
 public:
  ZeroAtPadding(std::unique_ptr<core::Transition> inner, const at::Tensor& real)
      : inner_(std::move(inner)), padded_(real.eq(0).flatten().unsqueeze(1)) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& copied, core::StepRows& rows, std::size_t layer,
                     const core::DropoutKey& dropout) const override {
    return inner_->forward(x, copied, rows, layer, dropout).masked_fill(padded_, 0);
  }

 private:
  std::unique_ptr<core::Transition> inner_;
  at::Tensor padded_;  // [rows, 1] bool
};

}  // namespace

at::Tensor real_rows(const at::Tensor& real) { return real.flatten().nonzero().squeeze(1); }

dist::Sequences sequences_of(const at::Tensor& real) {
  dist::Sequences sequences;
  for (std::int64_t index = 0; index < real.size(0); ++index) {
    sequences.ids.push_back(index);
    sequences.lengths.push_back(real[index].count_nonzero().item<std::int64_t>());
    if (sequences.lengths.back() == 0) throw NotSupported(fmt::format("sequence {} is nothing but padding", index));
  }
  return sequences;
}

std::shared_ptr<const dist::SequenceExchange> make_padded_exchange(const at::Tensor& real) {
  return std::make_shared<PaddedExchange>(real);
}

bool all_real(const at::Tensor& real) { return real.ne(0).all().item<bool>(); }

void remove_padding(const Case& golden, core::Block& block, const at::Tensor& real) {
  const bool convolves = golden.hparams().at("transformer_ffn_type") == "sepconv";  // masks its input instead
  if (convolves || !golden.hparams().value("use_pad_remover", true)) return;
  for (auto& layer : block.layers())
    layer.transition = std::make_unique<ZeroAtPadding>(std::move(layer.transition), real);
}

}  // namespace ut::golden
