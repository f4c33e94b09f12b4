#include "core/beam_search.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace ut::core {
namespace {

/// A prefix extended by one symbol.
struct Candidate {
  double log_probability;
  std::size_t parent;  // the prefix's number in the beam
  std::int64_t symbol;
};

struct Prefix {
  double log_probability = 0;
  std::size_t parent = 0;  // its number in the beam a round ago
  std::vector<std::int64_t> symbols = {};
};

/// The search for one source's output.
class Beam {
 public:
  Beam(std::int64_t limit, std::vector<std::int64_t> given, const BeamOptions& options)
      : limit_(limit), given_(std::move(given)), options_(options), length_(-std::ssize(given_)) {}

  const std::vector<Prefix>& running() const { return running_; }  // likeliest first
  /// A running prefix's last symbol, which may be a given one; -1 if there is none.
  std::int64_t last(const Prefix& prefix) const {
    if (!prefix.symbols.empty()) return prefix.symbols.back();
    const std::int64_t read = std::ssize(given_) + length_;
    return read == 0 ? -1 : given_[static_cast<std::size_t>(read - 1)];
  }

  bool ended() const {
    if (running_.empty() || length_ >= limit_) return true;
    // A prefix's probability can only shrink, and its penalty is largest at the limit.
    return best_ && running_.front().log_probability / penalty(limit_) <= best_->first;
  }

  void extend(std::vector<Candidate> candidates) {
    if (++length_ <= 0) return;  // what follows is known
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      return std::tuple(-a.log_probability, a.parent, a.symbol) < std::tuple(-b.log_probability, b.parent, b.symbol);
    });
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(2 * options_.width)));
    std::vector<Prefix> extended;
    for (const Candidate& candidate : candidates) {
      if (candidate.symbol == options_.end_of_sequence)
        finish(candidate);
      else if (std::cmp_less(extended.size(), options_.width))
        extended.push_back(longer(candidate));
    }
    running_ = std::move(extended);
  }

  /// Empty, with a log probability of NaN, if scores are NaN: then no prefix goes on.
  Prefix output() const {
    if (best_) return best_->second;
    return running_.empty() ? Prefix{std::numeric_limits<double>::quiet_NaN()} : running_.front();
  }

 private:
  double penalty(std::int64_t length) const {
    return std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }

  Prefix longer(const Candidate& candidate) const {
    Prefix prefix{candidate.log_probability, candidate.parent, running_[candidate.parent].symbols};
    prefix.symbols.push_back(candidate.symbol);
    return prefix;
  }

  void finish(const Candidate& candidate) {
    const double score = candidate.log_probability / penalty(length_);
    if (!best_ || score > best_->first)
      best_.emplace(score, Prefix{candidate.log_probability, candidate.parent, running_[candidate.parent].symbols});
  }

  std::int64_t limit_;
  std::vector<std::int64_t> given_;
  const BeamOptions& options_;
  std::int64_t length_;  // symbols of each prefix; below 0: given ones that are still to be read
  std::vector<Prefix> running_{{}};
  std::optional<std::pair<double, Prefix>> best_;  // of the prefixes that ended: score, and prefix without the end
};

using Beams = std::vector<Beam>;

/// All prefixes that go on, source by source.
Prefixes prefixes_of(const Beams& beams, std::int64_t width, std::int64_t length) {
  Prefixes prefixes;
  prefixes.length = length;
  std::int64_t first = 0;  // the source's first place
  for (const Beam& beam : beams) {
    if (!beam.ended())
      for (std::size_t number = 0; number < beam.running().size(); ++number) {
        const Prefix& prefix = beam.running()[number];
        prefixes.place.push_back(first + static_cast<std::int64_t>(number));
        prefixes.parent.push_back(first + static_cast<std::int64_t>(prefix.parent));
        prefixes.last.push_back(beam.last(prefix));
      }
    first += width;
  }
  return prefixes;
}

/// For each prefix the `count` likeliest symbols, and all that are as likely as the last of these, so that the choice
/// does not depend on topk()'s order. Returns prefix and symbol [candidates, 2] int64, and log probabilities
/// [candidates] float64.
std::pair<at::Tensor, at::Tensor> likeliest(const at::Tensor& logits, std::int64_t count) {
  const at::Tensor all = at::log_softmax(logits, 1);  // [prefixes, vocabulary]
  const auto [values, symbols] = all.topk(std::min(count, all.size(1)), 1);
  const at::Tensor chosen = all.ge(values.select(1, values.size(1) - 1).unsqueeze(1)).nonzero();
  const at::Tensor of_chosen = all.index({chosen.select(1, 0), chosen.select(1, 1)});
  return {chosen.cpu().contiguous(), of_chosen.to(at::kCPU, at::kDouble)};
}

void extend(Beams& beams, const Prefixes& prefixes, const at::Tensor& logits, std::int64_t width) {
  const auto [chosen, log_probability] = likeliest(logits, 2 * width);
  const auto* place = chosen.const_data_ptr<std::int64_t>();
  const auto* value = log_probability.const_data_ptr<double>();
  std::vector<std::vector<Candidate>> candidates(beams.size());
  for (std::int64_t index = 0; index < chosen.size(0); ++index) {
    const auto at = prefixes.place[static_cast<std::size_t>(place[2 * index])];
    const auto source = static_cast<std::size_t>(at / width);
    const auto parent = static_cast<std::size_t>(at % width);
    candidates[source].push_back(
        {beams[source].running()[parent].log_probability + value[index], parent, place[2 * index + 1]});
  }
  for (std::size_t source = 0; source < beams.size(); ++source)
    if (!beams[source].ended()) beams[source].extend(std::move(candidates[source]));
}

}  // namespace

Likeliest search_with_beam(PrefixDecoder& decoder, const std::vector<std::int64_t>& limits, const BeamOptions& options,
                           const Outputs& given) {
  Beams beams;
  for (std::size_t source = 0; source < limits.size(); ++source)
    beams.emplace_back(limits[source], given.empty() ? std::vector<std::int64_t>() : given[source], options);
  for (std::int64_t length = 0;; ++length) {
    const Prefixes prefixes = prefixes_of(beams, options.width, length);
    if (prefixes.place.empty()) break;
    extend(beams, prefixes, decoder.next(prefixes), options.width);
  }
  Likeliest found;
  for (const Beam& beam : beams) {
    const Prefix output = beam.output();
    found.outputs.push_back(output.symbols);
    found.log_probabilities.push_back(output.log_probability);
  }
  return found;
}

}  // namespace ut::core
