#include "launcher/ranks/non_finite_updates.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "launcher/ranks/agree.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

/// A sentence on what of an update is not finite. At least one thing is.
std::string what_is_not_finite(const core::Model& model, double loss) {
  std::vector<std::string> what;
  if (!std::isfinite(loss)) what.emplace_back("the loss");
  for (const auto& [name, gradient] : core::views_of(model.parameters().flat_gradient(), model.parameters().all()))
    if (!gradient.isfinite().all().item<bool>()) {
      what.push_back("the gradient of " + name);
      break;
    }
  if (what.empty()) what.emplace_back("the norm of the gradients");  // their squares are too large
  return fmt::format("{} {} not finite", fmt::join(what, " and "), what.size() == 1 ? "is" : "are");
}

}  // namespace

std::string NonFiniteUpdates::left_out(const core::Model& model, double loss, bool here, dist::Communicator& world) {
  const at::Tensor ranks = numbers_of_ranks(at::full({1}, here ? 1 : 0, at::kLong), world);
  const int rank = static_cast<int>(ranks.argmax().item<std::int64_t>());  // 0, which speaks, if there is none
  const std::string host = text_of_rank(host_name(), rank, world);
  const bool is_of_one = world.size() == 1 || ranks.any().item<bool>();
  const std::string what =
      what_is_not_finite(model, loss) + (is_of_one ? "" : ", though each rank's part of the sum is");
  if (++in_a_row_ > limit_)
    throw FailureOfRank(
        rank, host,
        limit_ == 0
            ? what + " (--on-nonfinite stop)"
            : fmt::format("{}, after {} such updates in a row were left out (--nonfinite-limit); --resume goes on from "
                          "the newest checkpoint, if there is one; with --checkpoint best or update-N, from that one",
                          what, limit_));
  return fmt::format("{}{}; the update is left out, {} of at most {} in a row", what,
                     is_of_one ? fmt::format(", from rank {} on host {}", rank, host) : "", in_a_row_, limit_);
}

}  // namespace ut::launcher
