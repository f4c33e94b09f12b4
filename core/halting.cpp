#include "core/halting.h"

#include <ATen/ATen.h>

#include "base/philox.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// Uniform in (0, 1), a function of the key and the row's identity. [rows] float64
at::Tensor noise(const dist::Rows& rows, const DropoutKey& key) {
  at::Tensor result = at::empty({rows.count()}, at::kDouble);
  auto* value = result.mutable_data_ptr<double>();
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const auto words = base::philox({0, static_cast<std::uint32_t>(position[row]),
                                     static_cast<std::uint32_t>(sequence[row]), key.with_site(Site::halting).place},
                                    key.update);
    value[row] = base::uniform(words[0]);
  }
  return result;
}

}  // namespace

HaltingUnit::HaltingUnit(Parameters& parameters, const std::string& name, const ModelOptions& options)
    : kind_(options.halting.kind) {
  if (kind_ == ActKind::random) return;
  kernel_ = parameters.add_kernel(name + ".kernel", {options.d_model, 1}, options.d_model, 1);
  bias_ = parameters.add_constant(name + ".bias", {1}, options.halting.bias);
}

at::Tensor HaltingUnit::probability(const at::Tensor& x, std::int64_t step, const StepRows& rows,
                                    const DropoutKey& dropout) const {
  if (draw_) return dist::on_device(draw_(step, rows.local()), x.device());
  if (kind_ == ActKind::random) return dist::on_device(noise(rows.local(), dropout), x.device());
  const at::Tensor own = at::sigmoid(at::addmm(bias_, x, kernel_).squeeze(1).to(at::kDouble));
  return kind_ == ActKind::global ? rows.mean_over_sequence(own) : own;
}

HaltingState::HaltingState(const at::Tensor& state, const HaltingOptions& options)
    : options_(options),
      running_(at::ones({state.size(0)}, state.options().dtype(at::kBool))),
      weight_(at::zeros({state.size(0)}, state.options().dtype(at::kDouble))),
      probability_(weight_),
      remainder_(weight_),
      updates_(at::zeros({state.size(0)}, state.options().dtype(at::kLong))),
      mean_(at::zeros_like(state)) {}

void HaltingState::decide(const at::Tensor& probability, bool last) {
  const at::Tensor goes =
      last ? at::zeros_like(running_) : running_.logical_and((probability_ + probability).le(options_.threshold));
  const at::Tensor stops = running_.logical_and(goes.logical_not()).to(at::kDouble);
  const at::Tensor left = 1 - probability_;
  weight_ = goes.to(at::kDouble) * probability + stops * left;
  remainder_ = remainder_ + stops * left;
  probability_ = probability_ + weight_;
  updates_ = updates_ + running_.to(at::kLong);
  running_ = goes;
}

void HaltingState::add_to_mean(const at::Tensor& state) {
  const at::Tensor weight = weight_.unsqueeze(1).to(state.scalar_type());
  mean_ = options_.output == ActOutput::accumulated ? mean_ + weight * state : weight * state + (1 - weight) * mean_;
}

HaltingState HaltingState::in_order(const at::Tensor& order) const {
  HaltingState result = *this;
  for (at::Tensor* part :
       {&result.running_, &result.weight_, &result.probability_, &result.remainder_, &result.updates_, &result.mean_})
    *part = dist::select_rows(*part, order);
  return result;
}

HaltingState HaltingState::of_running(const std::function<at::Tensor(const at::Tensor&)>& stay) const {
  HaltingState result = *this;
  for (at::Tensor* part : {&result.probability_, &result.remainder_, &result.updates_, &result.mean_})
    *part = stay(*part);
  result.running_ = at::ones_like(result.updates_, at::kBool);
  result.weight_ = at::zeros_like(result.updates_, at::kDouble);
  return result;
}

at::Tensor HaltingState::cost() const { return updates_ + remainder_; }

}  // namespace ut::core
