#include "launcher/cost/step_rows.h"

#include <algorithm>
#include <cmath>

#include "launcher/cost/ponder_shares.h"

namespace ut::launcher {
namespace {

double rounded_up(std::int64_t a, std::int64_t b) { return real((a + b - 1) / b); }

}  // namespace

std::vector<StepRows> rows_of_steps(const Workload& work, const Layout& layout, const GivenStack& stack) {
  const double data_parallel = real(layout.ranks() / layout.sequence_parallel);
  const double sequences = std::ceil(real(work.sequences) / data_parallel);
  const double share = std::ceil(stack.length / real(layout.sequence_parallel));
  const double slots = rounded_up(work.longest, layout.sequence_parallel);
  const StepRows whole{sequences * share, 0, sequences, slots, real(work.longest)};
  if (stack.halting == core::Halting::none) return {static_cast<std::size_t>(stack.steps), whole};
  const double mean = work.ponder > 0 ? work.ponder : std::max(1.0, real(stack.steps) / 2);
  const std::vector<double> shares = ponder_shares(mean, stack.steps);
  std::vector<StepRows> steps;
  double running = 1;
  for (std::size_t step = 0; step < shares.size() && running * sequences * stack.length >= 0.5; ++step) {
    StepRows now = whole;
    if (stack.halting == core::Halting::act_copy) {
      const double spread = 2 * share * running * (1 - running) * std::log(std::max(2.0, sequences));
      now.rows *= running;
      now.queries = std::min(slots, share * running + std::sqrt(spread));
      now.sequences *= 1 - std::pow(1 - std::min(1.0, running), share);
      now.some_leave = shares[step] * whole.rows >= 0.5 && running - shares[step] > 0;
      now.copied = step == 0 ? 0 : whole.rows * shares[step - 1] * now.sequences / sequences;
    }
    steps.push_back(now);
    running -= shares[step];
  }
  return steps;
}

}  // namespace ut::launcher
