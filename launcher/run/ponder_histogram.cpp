#include "launcher/run/ponder_histogram.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "dist/to_host.h"

namespace ut::launcher {

void PonderHistogram::add(const at::Tensor& updates) {
  if (!updates.defined() || updates.numel() == 0) return;
  if (!updates.is_cpu()) return arriving_.push_back(dist::start_to_host(updates));
  count(updates);
}

void PonderHistogram::count(const at::Tensor& updates) {
  const at::Tensor counts = at::bincount(updates);
  PonderHistogram other;
  other.rows_.assign(counts.const_data_ptr<std::int64_t>(), counts.const_data_ptr<std::int64_t>() + counts.numel());
  add(other);
}

void PonderHistogram::add(const PonderHistogram& other) {
  rows_.resize(std::max(rows_.size(), other.rows_.size()));
  for (std::size_t steps = 0; steps < other.rows_.size(); ++steps) rows_[steps] += other.rows_[steps];
  arriving_.insert(arriving_.end(), other.arriving_.begin(), other.arriving_.end());
}

void PonderHistogram::count_arriving() {
  for (const dist::PendingTensor& updates : std::exchange(arriving_, {})) count(updates());
}

void PonderHistogram::sum_over(dist::Communicator& world, std::int64_t most) {
  count_arriving();
  rows_.resize(static_cast<std::size_t>(most) + 1);
  const at::Tensor counts = at::tensor(rows_, at::kLong);
  world.all_reduce_sum(counts, dist::Purpose::control);
  rows_.assign(counts.const_data_ptr<std::int64_t>(), counts.const_data_ptr<std::int64_t>() + counts.numel());
}

std::int64_t PonderHistogram::rows() const { return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0}); }

double PonderHistogram::mean() const {
  double steps = 0;
  for (std::size_t n = 0; n < rows_.size(); ++n) steps += static_cast<double>(n) * static_cast<double>(rows_[n]);
  return steps / static_cast<double>(rows());
}

double PonderHistogram::standard_deviation() const {
  const double center = mean();
  double squares = 0;
  for (std::size_t n = 0; n < rows_.size(); ++n)
    squares += std::pow(static_cast<double>(n) - center, 2) * static_cast<double>(rows_[n]);
  return std::sqrt(squares / static_cast<double>(rows()));
}

std::vector<std::int64_t> PonderHistogram::histogram() const {
  std::vector<std::int64_t> counts = rows_;
  if (!counts.empty()) counts.erase(counts.begin());
  return counts;
}

std::vector<double> PonderHistogram::running_share() const {
  std::vector<double> shares;
  const auto all = static_cast<double>(rows());
  auto left = rows();
  for (const std::int64_t stopped : histogram()) {
    shares.push_back(static_cast<double>(left) / all);
    left -= stopped;
  }
  return shares;
}

void PonderHistograms::add(const core::Prediction& prediction, const core::HaltingOptions& halting) {
  if (halting.encoder != core::Halting::none) encoder.add(prediction.encoder.updates);
  if (halting.decoder != core::Halting::none) decoder.add(prediction.decoder.updates);
}

void PonderHistograms::add(const PonderHistograms& other) {
  encoder.add(other.encoder);
  decoder.add(other.decoder);
}

void PonderHistograms::count_arriving() {
  encoder.count_arriving();
  decoder.count_arriving();
}

void PonderHistograms::sum_over(dist::Communicator& world, const core::Steps& most) {
  encoder.sum_over(world, most.encoder);
  decoder.sum_over(world, most.decoder);
}

double PonderHistograms::mean() const {
  PonderHistogram both = encoder;
  both.add(decoder);
  return both.mean();
}

nlohmann::ordered_json to_json(const PonderHistograms& ponder_times) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [name, counts] : {std::pair{"encoder", &ponder_times.encoder}, {"decoder", &ponder_times.decoder}})
    if (counts->rows() > 0)
      result[name] = {{"mean", counts->mean()},
                      {"sd", counts->standard_deviation()},
                      {"histogram", counts->histogram()},
                      {"running", counts->running_share()}};
  return result;
}

std::string describe(const PonderHistograms& ponder_times) {
  std::string text;
  for (const auto& [name, counts] : {std::pair{"encoder", &ponder_times.encoder}, {"decoder", &ponder_times.decoder}})
    if (counts->rows() > 0)
      text += fmt::format("{}{:.2f} ± {:.2f} in the {}", text.empty() ? "ponder time " : ", ", counts->mean(),
                          counts->standard_deviation(), name);
  return text;
}

std::string describe_histogram(const PonderHistograms& ponder_times) {
  std::string text;
  for (const auto& [name, counts] : {std::pair{"encoder", &ponder_times.encoder}, {"decoder", &ponder_times.decoder}}) {
    if (counts->rows() == 0) continue;
    text += fmt::format("steps in the {}:", name);
    std::int64_t steps = 0;
    for (const std::int64_t rows : counts->histogram()) {
      ++steps;
      if (rows > 0)
        text +=
            fmt::format("  {} {:.1f} %", steps, 100 * static_cast<double>(rows) / static_cast<double>(counts->rows()));
    }
    text += '\n';
  }
  return text;
}

}  // namespace ut::launcher
