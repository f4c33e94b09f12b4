#include "core/cached_rows.h"

#include <ATen/ATen.h>

#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "dist/on_device.h"
#include "dist/select_rows.h"
#include "dist/to_host.h"

namespace ut::core {
namespace {

using Numbers = std::vector<std::int64_t>;

class CachedRows final : public CurrentRows {
 public:
  CachedRows(DecodingCache& cache, NewPosition rows, Halting halting, std::int64_t steps, const dist::Rows* memory)
      : cache_(cache),
        position_(rows.position),
        id_(std::move(rows.id)),
        first_(rows.sequence),
        width_(rows.width),
        copies_(halting == Halting::act_copy),
        steps_(steps),
        memory_(memory),
        running_(std::move(rows.sequence)) {
    lay_out();
  }

  const dist::Rows& local() const override { return local_; }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }

  dist::Sent sent_kind() const override { return dist::Sent::keys_values; }

  at::Tensor attend(std::size_t layer, const at::Tensor& sent, const AttentionCall& call) override {
    if (layer == 0) ++step_;
    return layout_->attend(call.query(), remember(&DecodingCache::StepCache::keys_values, layer, sent), call);
  }

  Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) override {
    const auto known = [all = remember(&DecodingCache::StepCache::states, layer, x), this](const Numbers& places) {
      return dist::select_rows(all, index_of(places));
    };
    return windows_over(known, cache_.device(), local_, seen_, places_, first, second);
  }

  at::Tensor mean_over_sequence(const at::Tensor&) const override {
    throw std::logic_error("a sequence's mean needs positions that are not decoded yet");
  }

  /// If no rows leave, nothing has to wait for a device's flags.
  void start_compaction(const at::Tensor& running) override {
    if (copies_) flags_ = dist::start_to_host(running);
  }

  dist::Compaction finish_compaction() override {
    if (!copies_) {
      const auto options = at::TensorOptions(at::kLong).device(cache_.device());
      const at::Tensor none = at::empty({0}, options);
      return {at::arange(std::ssize(running_), options), none, none};
    }
    Numbers still;
    Numbers stopped;
    const at::Tensor flags = flags_();
    const auto* runs_on = flags.const_data_ptr<bool>();
    for (std::int64_t row = 0; row < flags.numel(); ++row) (runs_on[row] ? still : stopped).push_back(row);
    const auto those = [this](const Numbers& rows) {
      Numbers sequences;
      for (const std::int64_t row : rows) sequences.push_back(running_[static_cast<std::size_t>(row)]);
      return sequences;
    };
    copied_ = those(stopped);
    halted_.insert(halted_.end(), copied_.begin(), copied_.end());
    if (!stopped.empty()) {
      running_ = those(still);
      lay_out();
    }
    if (!any_running()) repeat_last_step();
    const at::Tensor left = index_of(stopped);
    return {index_of(still), left, left};
  }

  /// One step more than the rows need, so that what later positions see of them is computed.
  bool any_running() const override { return step_ < steps_ && (!running_.empty() || !copied_.empty()); }
  at::Tensor move_with_rows(const at::Tensor& values) const override { return values; }
  bool has_moved() const override { return false; }

  at::Tensor return_to_initial_rows(const at::Tensor& halted) const override {
    std::unordered_map<std::int64_t, std::int64_t> place;  // each sequence's place among those that halted
    for (const std::int64_t sequence : halted_) place.emplace(sequence, std::ssize(place));
    Numbers order;
    for (const std::int64_t sequence : first_) order.push_back(place.at(sequence));
    return halted.index_select(0, index_of(order));
  }

 private:
  using Part = std::vector<at::Tensor> DecodingCache::StepCache::*;

  at::Tensor index_of(const Numbers& numbers) const { return dist::on_device(numbers, cache_.device()); }

  /// Adds `rows` (the running, then the copied ones) to what is known of this step's earlier positions. Rows that
  /// halted before keep what they had in the step before. Returns all [positions that there is room for * sequences,
  /// columns].
  at::Tensor remember(Part part, std::size_t layer, const at::Tensor& rows) {
    at::Tensor now = cache_.at_position(cache_.of_step(step_).*part, layer, position_, rows);
    if (step_ > 1 && copies_) now.copy_(cache_.at_position(cache_.of_step(step_ - 1).*part, layer, position_, rows));
    Numbers sequences = running_;
    sequences.insert(sequences.end(), copied_.begin(), copied_.end());
    now.index_copy_(0, index_of(sequences), rows);
    return (cache_.of_step(step_).*part)[layer].flatten(0, 1);
  }

  void repeat_last_step() {
    for (std::int64_t step = step_ + 1; step <= steps_; ++step)
      for (const Part part : {&DecodingCache::StepCache::keys_values, &DecodingCache::StepCache::states}) {
        auto& last = cache_.of_step(step_).*part;
        for (std::size_t layer = 0; layer < last.size(); ++layer) {
          const at::Tensor made = last[layer][position_];
          cache_.at_position(cache_.of_step(step).*part, layer, position_, made).copy_(made);
        }
      }
  }

  void lay_out() {
    local_ = {};
    seen_ = {};
    places_.clear();
    Numbers ids;
    Numbers seen_ids;
    Numbers seen_positions;
    local_.offsets.push_back(0);
    seen_.offsets.push_back(0);
    for (const std::int64_t sequence : running_) {
      ids.push_back(id_[static_cast<std::size_t>(sequence)]);
      local_.offsets.push_back(static_cast<std::int64_t>(ids.size()));
      for (std::int64_t position = 0; position <= position_; ++position) {
        seen_ids.push_back(ids.back());
        seen_positions.push_back(position);
        places_.push_back(position * cache_.sequences() + sequence);
      }
      seen_.offsets.push_back(static_cast<std::int64_t>(places_.size()));
    }
    local_.sequence = at::tensor(ids, at::kLong);
    local_.position = at::full({local_.sequence.size(0)}, position_, at::kLong);
    seen_.sequence = at::tensor(seen_ids, at::kLong);
    seen_.position = at::tensor(seen_positions, at::kLong);
    layout_.emplace(local_, seen_, false, cache_.device(), places_);
    if (memory_ == nullptr) return;
    Numbers sources = running_;
    for (auto& source : sources) source /= width_;
    const auto [rows, places] = dist::rows_of_sequences(*memory_, sources);
    memory_layout_.emplace(local_, rows, false, cache_.device(), places);
  }

  DecodingCache& cache_;
  std::int64_t position_;
  Numbers id_;
  Numbers first_;  // sequences that ran at first
  std::int64_t width_;
  bool copies_;
  std::int64_t steps_;
  const dist::Rows* memory_;
  std::int64_t step_ = 0;
  Numbers running_;  // sequences; with the two below
  Numbers copied_;
  Numbers halted_;  // in the order in which they halted
  dist::PendingTensor flags_;
  dist::Rows local_;
  dist::Rows seen_;
  Numbers places_;
  std::optional<AttentionLayout> layout_;
  std::optional<AttentionLayout> memory_layout_;
};

}  // namespace

std::shared_ptr<StackRows> make_cached_rows(DecodingCache& cache, NewPosition rows, Halting halting, std::int64_t steps,
                                            const dist::Rows* memory) {
  return std::make_shared<CachedRows>(cache, std::move(rows), halting, steps, memory);
}

}  // namespace ut::core
