#include "core/universal_decoder.h"

#include <ATen/ATen.h>

#include <numeric>
#include <optional>
#include <utility>

#include "core/cached_rows.h"
#include "dist/on_device.h"

namespace ut::core {
namespace {

/// The memory of only the sequences with these numbers.
Memory memory_of(const Memory& memory, const std::vector<std::int64_t>& sequences) {
  const auto [rows, places] = dist::rows_of_sequences(memory.rows, sequences);
  Memory part{{}, rows};
  const at::Tensor index = dist::on_device(places, memory.keys_values.front().device());
  for (const at::Tensor& keys_values : memory.keys_values)
    part.keys_values.push_back(keys_values.index_select(0, index));
  return part;
}

/// The numbers of the share's sequences in the memory.
std::vector<std::int64_t> numbers_of(const base::Span& mine) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(mine.end - mine.begin));
  std::iota(numbers.begin(), numbers.end(), mine.begin);
  return numbers;
}

/// What both kinds of decoders have in common: the sources that were read, and counts of steps.
class UniversalDecoderBase : public PrefixDecoder {
 public:
  UniversalDecoderBase(const UniversalTransformer& model, std::optional<Memory> memory, at::Tensor encoder_updates)
      : model_(model), memory_(std::move(memory)), encoder_updates_(std::move(encoder_updates)) {}

  at::Tensor encoder_updates() const override { return encoder_updates_; }
  at::Tensor decoder_updates() const override {
    return updates_.empty() ? at::empty({0}, at::kLong) : at::cat(updates_).cpu();
  }

 protected:
  const UniversalTransformer& model() const { return model_; }
  const Memory* memory() const { return memory_ ? &*memory_ : nullptr; }
  void count(const at::Tensor& updates) { updates_.push_back(updates); }  // does not wait for a device

 private:
  const UniversalTransformer& model_;
  std::optional<Memory> memory_;  // none in a decoder alone
  at::Tensor encoder_updates_;
  std::vector<at::Tensor> updates_;
};

/// Decodes only this rank's sequences, and computes each position once.
class CachedDecoder final : public UniversalDecoderBase {
 public:
  CachedDecoder(const UniversalTransformer& model, std::optional<Memory> memory, at::Tensor encoder_updates,
                std::int64_t steps, const DecodingShare& share)
      : UniversalDecoderBase(model, std::move(memory), std::move(encoder_updates)),
        steps_(steps),
        width_(share.width),
        cache_(share.width * (share.mine.end - share.mine.begin), share.group.device()) {
    for (std::int64_t sequence = share.mine.begin; sequence < share.mine.end; ++sequence)
      ids_.insert(ids_.end(), static_cast<std::size_t>(width_),
                  share.sequences.ids[static_cast<std::size_t>(sequence)]);
  }

  at::Tensor next(const Prefixes& prefixes) override {
    cache_.move(prefixes.length, prefixes.parent, prefixes.place);
    Batch batch;
    batch.target_previous = dist::on_device(prefixes.last, cache_.device());
    const at::Tensor position = at::full_like(batch.target_previous, prefixes.length);
    const Recurrence& decoder = model().decoder();
    const auto rows = make_cached_rows(cache_, {prefixes.length, prefixes.place, ids_, width_}, decoder.halting(),
                                       steps_, memory() == nullptr ? nullptr : &memory()->rows);
    const StackOutput output = decoder.forward(model().embed_target(batch), position, steps_, *rows, memory(), {});
    count(output.updates);
    return model().logits(output.state);
  }

 private:
  std::int64_t steps_;
  std::int64_t width_;
  DecodingCache cache_;
  std::vector<std::int64_t> ids_;  // [places]
};

/// Goes over all positions so far for each symbol: for halting that depends on all of them.
class WholePrefixes final : public UniversalDecoderBase {
 public:
  WholePrefixes(const UniversalTransformer& model, std::optional<Memory> memory, at::Tensor encoder_updates,
                std::int64_t steps, const DecodingShare& share)
      : UniversalDecoderBase(model, std::move(memory), std::move(encoder_updates)),
        steps_(steps),
        width_(share.width),
        ids_(share.sequences.ids),
        group_(share.group),
        symbols_(ids_.size() * static_cast<std::size_t>(share.width)) {}

  at::Tensor next(const Prefixes& prefixes) override {
    take(prefixes);
    const std::int64_t length = prefixes.length + 1;  // rows of each prefix
    std::vector<std::int64_t> sources;
    for (const std::int64_t place : prefixes.place) sources.push_back(place / width_);
    const Batch batch = batch_of(prefixes, sources, length);
    std::optional<Memory> memory;
    if (this->memory() != nullptr) memory = memory_of(*this->memory(), sources);
    const StackOutput output =
        model().decode(model().embed_target(batch), memory ? &*memory : nullptr, batch, steps_, {});
    const dist::Rows& rows = batch.target->local();
    at::Tensor logits = at::zeros({rows.sequences(), model().options().vocabulary}, output.state.options());
    std::vector<std::int64_t> sequences;  // whose last row is here
    std::vector<std::int64_t> ends;
    for (std::int64_t sequence = 0; sequence < rows.sequences(); ++sequence) {
      const std::int64_t end = rows.offsets[static_cast<std::size_t>(sequence) + 1] - 1;
      if (end < rows.offsets[static_cast<std::size_t>(sequence)]) continue;
      if (rows.position.const_data_ptr<std::int64_t>()[end] != length - 1) continue;
      sequences.push_back(sequence);
      ends.push_back(end);
    }
    const at::Tensor last = dist::on_device(ends, group_.device());
    logits.index_copy_(0, dist::on_device(sequences, group_.device()),
                       model().logits(output.state.index_select(0, last)));
    count(output.updates.index_select(0, last));
    group_.all_reduce_sum(logits, dist::Purpose::control);
    return logits;
  }

 private:
  void take(const Prefixes& prefixes) {
    const auto before = symbols_;
    for (std::size_t index = 0; index < prefixes.place.size() && prefixes.length > 0; ++index) {
      auto& symbols = symbols_[static_cast<std::size_t>(prefixes.place[index])];
      symbols = before[static_cast<std::size_t>(prefixes.parent[index])];
      symbols.push_back(prefixes.last[index]);
    }
  }

  /// A batch of this rank's rows of the prefixes, shifted by one; each prefix has `length` rows on all ranks together.
  Batch batch_of(const Prefixes& prefixes, const std::vector<std::int64_t>& sources, std::int64_t length) {
    dist::Sequences sequences;
    for (const std::int64_t source : sources) sequences.ids.push_back(ids_[static_cast<std::size_t>(source)]);
    sequences.lengths.assign(sources.size(), length);
    Batch batch;
    batch.target = dist::make_exchange(sequences, group_);
    const dist::Rows& rows = batch.target->local();
    const auto* position = rows.position.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> previous;
    for (std::size_t index = 0; index < sources.size(); ++index) {
      const auto& symbols = symbols_[static_cast<std::size_t>(prefixes.place[index])];
      for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
        previous.push_back(position[row] == 0 ? -1 : symbols[static_cast<std::size_t>(position[row] - 1)]);
    }
    batch.target_previous = dist::on_device(previous, group_.device());
    batch.target_position = dist::on_device(rows.position, group_.device());
    return batch;
  }

  std::int64_t steps_;
  std::int64_t width_;
  std::vector<std::int64_t> ids_;
  dist::Communicator& group_;
  std::vector<std::vector<std::int64_t>> symbols_;  // [places]
};

}  // namespace

std::unique_ptr<PrefixDecoder> make_universal_decoder(const UniversalTransformer& model, const Batch& batch,
                                                      const Steps& steps, const DecodingShare& share) {
  at::Tensor encoder_updates = at::empty({0}, at::kLong);
  std::optional<Memory> memory;
  if (batch.source) {
    const StackOutput encoded = model.encode(model.embed_source(batch), batch, steps.encoder, {});
    encoder_updates = encoded.updates;
    memory = model.decoder().block().remember(encoded.state, *batch.source);
  }
  if (model.decodes_together())
    return std::make_unique<WholePrefixes>(model, std::move(memory), encoder_updates, steps.decoder, share);
  if (memory) memory = memory_of(*memory, numbers_of(share.mine));
  return std::make_unique<CachedDecoder>(model, std::move(memory), encoder_updates, steps.decoder, share);
}

}  // namespace ut::core
