#include "core/lstm.h"

#include <ATen/ATen.h>

#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/products.h"
#include "dist/on_device.h"

namespace ut::core {
namespace {

const dist::Rows& whole_sequences(const dist::SequenceExchange& exchange) {
  if (exchange.holdings().group->size() > 1)
    throw std::logic_error("an LSTM reads sequences in order, so that each has to be on one rank");
  return exchange.local();
}

/// [rows]: the last row of each row's sequence.
std::vector<std::int64_t> last_rows(const dist::Rows& rows) {
  std::vector<std::int64_t> last;
  for (std::size_t index = 0; index + 1 < rows.offsets.size(); ++index)
    last.insert(last.end(), static_cast<std::size_t>(rows.offsets[index + 1] - rows.offsets[index]),
                rows.offsets[index + 1] - 1);
  return last;
}

/// Sources that have been read: what attention sees of them, and the state after each.
struct ReadSources {
  at::Tensor memory;  // [source rows, 2d]
  dist::Rows rows;
  LstmState end;
};

/// Keeps the state of every prefix and what the encoder made of the sources.
class LstmDecoder final : public PrefixDecoder {
 public:
  /// `sources`: none in a decoder alone.
  LstmDecoder(const Lstm& model, std::optional<ReadSources> sources, const DecodingShare& share)
      : model_(model),
        device_(model.parameters().flat().device()),
        sources_(std::move(sources)),
        first_(share.mine.begin),
        width_(share.width) {
    std::vector<std::int64_t> source;  // [places]
    for (std::int64_t number = share.mine.begin; number < share.mine.end; ++number)
      source.insert(source.end(), static_cast<std::size_t>(width_), number);
    state_ =
        sources_ ? sources_->end.select(dist::on_device(source, device_)) : model.decoder().blank(std::ssize(source));
  }

  at::Tensor next(const Prefixes& prefixes) override {
    const at::Tensor place = dist::on_device(prefixes.place, device_);
    LstmState state = state_.select(dist::on_device(prefixes.parent, device_));
    Batch batch;
    batch.target_previous = dist::on_device(prefixes.last, device_);
    const at::Tensor output = model_.decoder().step(model_.embed_target(batch), state);
    for (std::size_t layer = 0; layer < state.hidden.size(); ++layer) {
      state_.hidden[layer].index_copy_(0, place, state.hidden[layer]);
      state_.cell[layer].index_copy_(0, place, state.cell[layer]);
    }
    if (!sources_) return model_.logits(output);
    return model_.logits(model_.attention().attend(output, sources_->memory, layout_of(prefixes)));
  }

  at::Tensor encoder_updates() const override { return at::empty({0}, at::kLong); }
  at::Tensor decoder_updates() const override { return at::empty({0}, at::kLong); }

 private:
  /// Each prefix attends to the rows of its source, which the prefixes of one source share.
  AttentionLayout layout_of(const Prefixes& prefixes) const {
    std::vector<std::int64_t> sources;
    for (const std::int64_t place : prefixes.place) sources.push_back(first_ + place / width_);
    const auto [keys, places] = dist::rows_of_sequences(sources_->rows, sources);
    dist::Rows queries;
    queries.sequence = at::tensor(sources, at::kLong);
    queries.position = at::full_like(queries.sequence, prefixes.length);
    queries.offsets.resize(sources.size() + 1);
    std::iota(queries.offsets.begin(), queries.offsets.end(), 0);
    return {queries, keys, false, device_, places};
  }

  const Lstm& model_;
  at::Device device_;
  std::optional<ReadSources> sources_;
  std::int64_t first_;
  std::int64_t width_;
  LstmState state_;  // [places, d] of each layer
};

}  // namespace

LuongAttention::LuongAttention(Parameters& parameters, const std::string& name, const ModelOptions& options)
    : query_(
          parameters.add_kernel(name + ".query", {options.d_model, options.d_model}, options.d_model, options.d_model)),
      combine_(parameters.add_kernel(name + ".combine", {2 * options.d_model, options.d_model}, 2 * options.d_model,
                                     options.d_model)) {}

/// Keys and values are both the states themselves; attend() takes a row's key beside its value.
at::Tensor LuongAttention::remember(const at::Tensor& encoded) { return at::cat({encoded, encoded}, 1); }

at::Tensor LuongAttention::attend(const at::Tensor& states, const at::Tensor& memory,
                                  const AttentionLayout& layout) const {
  const at::Tensor context = layout.attend(multiply(states, query_, query_.scalar_type()), memory, {1, 0, {}});
  return multiply(at::cat({context, states}, 1), combine_, combine_.scalar_type()).tanh();
}

Lstm::Lstm(const ModelOptions& options, std::uint64_t seed, at::Device device) : Model(options, seed, device) {
  if (options.has_encoder()) encoder_.emplace(parameters(), "encoder", options);
  if (options.has_decoder()) decoder_.emplace(parameters(), "decoder", options);
  if (encoder_ && decoder_) attention_.emplace(parameters(), "decoder.attention", options);
  parameters().flatten();
}

at::Tensor Lstm::answers(const LstmStack::Read& encoded, const Batch& batch) const {
  if (options().points) return scores(encoded.outputs, batch);
  const at::Tensor last = dist::on_device(last_rows(batch.source->local()), encoded.outputs.device());
  return logits(encoded.outputs.index_select(0, last.index_select(0, batch.read_rows)));
}

at::Tensor Lstm::decode(const LstmStack::Read* encoded, const Batch& batch, const DropoutKey& dropout) const {
  const dist::Rows& target = whole_sequences(*batch.target);
  const LstmState start = encoded == nullptr ? LstmState() : encoded->end;
  at::Tensor outputs = decoder_->read(embed_target(batch), target, start, dropout).outputs;
  if (encoded == nullptr) return outputs;
  const AttentionLayout layout(target, batch.source->local(), false, outputs.device());
  const at::Tensor attended = attention_->attend(outputs, LuongAttention::remember(encoded->outputs), layout);
  return core::dropout(attended, options().residual_dropout, dropout.with_site(Site::cross_attention_output), target);
}

Prediction Lstm::forward(const Batch& batch, const Steps&, const DropoutKey& dropout,
                         dist::GradientSynchronisation*) const {
  std::optional<LstmStack::Read> encoded;
  if (encoder_)
    encoded = encoder_->read(embed_source(batch), whole_sequences(*batch.source), {}, dropout.with_stack(0));
  Prediction prediction;
  prediction.logits = decoder_ ? scores(decode(encoded ? &*encoded : nullptr, batch, dropout.with_stack(1)), batch)
                               : answers(*encoded, batch);
  return prediction;
}

std::unique_ptr<PrefixDecoder> Lstm::begin_decoding(const Batch& batch, const Steps&,
                                                    const DecodingShare& share) const {
  std::optional<ReadSources> sources;
  if (encoder_) {
    const dist::Rows& rows = whole_sequences(*batch.source);
    const LstmStack::Read encoded = encoder_->read(embed_source(batch), rows, {}, {});
    sources = {LuongAttention::remember(encoded.outputs), rows, encoded.end};
  }
  return std::make_unique<LstmDecoder>(*this, std::move(sources), share);
}

}  // namespace ut::core
