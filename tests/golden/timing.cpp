#include <ATen/ATen.h>

#include <charconv>
#include <string_view>

#include "core/parameters.h"
#include "core/signals.h"
#include "tests/golden/kinds.h"

namespace ut::golden {
namespace {

/// The number that follows `mark` in `name`, or `otherwise`.
std::int64_t number_after(std::string_view name, std::string_view mark, std::int64_t otherwise) {
  const auto found = name.rfind(mark);
  if (found == std::string_view::npos) return otherwise;
  const std::string_view digits = name.substr(found + mark.size());
  std::int64_t number = otherwise;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

at::Tensor signal(std::int64_t first, std::int64_t count, std::int64_t d_model, at::ScalarType type) {
  return core::sinusoid(at::arange(first, first + count), d_model, core::Signal::halves).to(type);
}

/// The signals of positions from `first` on, plus that of `step`. [positions, d]
at::Tensor two_signals(std::int64_t first, std::int64_t step, at::IntArrayRef sizes, at::ScalarType type) {
  const std::int64_t d_model = sizes.back();
  return signal(first, sizes[sizes.size() - 2], d_model, type) + signal(step, 1, d_model, type);
}

}  // namespace

void compare_timing(const Case& golden, core::Precision precision, Comparison& comparison) {
  const auto type = core::scalar_type(precision);
  const auto check = [&](const std::string& name, const at::Tensor& got) {
    const at::Tensor& expected = golden.array(name);
    comparison.check(Quantity::output, name, got.numel() == expected.numel() ? got.reshape(expected.sizes()) : got);
  };
  for (const auto& name : golden.names("position_signal_"))
    check(name,
          signal(number_after(name, "_start", 0), golden.array(name).size(-2), golden.array(name).size(-1), type));
  for (const auto& name : golden.names("step_signal_"))
    check(name, signal(0, golden.array(name).size(0), golden.array(name).size(-1), type));
  for (const auto& name : golden.names("signal_2d/"))
    check(name, two_signals(0, number_after(name, "step_", 0), golden.array(name).sizes(), type));
  if (!golden.has("inputs")) return;

  const at::Tensor inputs = golden.array("inputs").to(type);
  for (const auto& name : golden.names("step_preprocess/"))
    check(name, inputs + two_signals(0, number_after(name, "step_", 0), inputs.sizes(), type));
  for (const auto& name : golden.names("step_preprocess_position_start_step/")) {
    const std::int64_t step = number_after(name, "step_", 0);
    const std::int64_t first = inputs.size(1) * step / golden.hparams().at("num_rec_steps").get<std::int64_t>();
    check(name, inputs + two_signals(first, step, inputs.sizes(), type));
  }
}

}  // namespace ut::golden
