#include "launcher/cost/step_rows.h"

#include <algorithm>
#include <cmath>

#include "launcher/cost/ponder_shares.h"

namespace ut::launcher {
namespace {

constexpr int second_width = 5;  // positions that the second convolution looks at

}  // namespace

std::vector<StepRows> rows_of_steps(const Workload& work, const Layout& layout, const GivenStack& stack) {
  const double data_parallel = real(layout.ranks() / layout.sequence_parallel);
  const double sequences = std::ceil(real(work.sequences) / data_parallel);
  const double share = std::ceil(stack.length / real(layout.sequence_parallel));
  const StepRows whole{sequences * share, 0, sequences, share, stack.keys, sequences * stack.length, sequences * share};
  if (stack.halting == core::Halting::none) return {static_cast<std::size_t>(stack.steps), whole};
  const double mean = work.ponder > 0 ? work.ponder : std::max(1.0, real(stack.steps) / 2);
  const std::vector<double> shares = ponder_shares(mean, stack.steps);
  std::vector<StepRows> steps;
  double running = 1;
  for (std::size_t step = 0; step < shares.size() && running * sequences * stack.length >= 0.5; ++step) {
    StepRows now = whole;
    if (stack.halting == core::Halting::act_copy) {
      const double left = std::clamp(running, 0.0, 1.0);
      now.rows *= left;
      now.sequences *= 1 - std::pow(1 - left, share);
      now.queries = now.rows / now.sequences;
      now.key_rows = now.sequences * stack.length;
      now.inner *= 1 - std::pow(1 - left, second_width);
      now.some_leave = shares[step] * whole.rows >= 0.5 && running - shares[step] > 0;
      now.copied = step == 0 ? 0 : whole.rows * shares[step - 1] * now.sequences / sequences;
    }
    steps.push_back(now);
    running -= shares[step];
  }
  return steps;
}

}  // namespace ut::launcher
