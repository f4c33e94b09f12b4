#include "launcher/bench/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/counted.h"
#include "launcher/cost/forward_products.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_table.h"
#include "launcher/process/readable.h"

namespace ut::launcher {
namespace {

std::string readable_bytes(std::int64_t bytes) { return readable(static_cast<double>(bytes), "B"); }

double rows_per_second(const BenchResult& result) { return static_cast<double>(result.rows) / result.step_seconds; }

std::string waited(double seconds) { return std::isnan(seconds) ? "unknown" : readable_seconds(seconds); }

/// What each purpose of communication takes, as "AMOUNT exchange, AMOUNT gradients, …".
std::string by_purpose(const std::function<std::string(std::size_t purpose)>& amount) {
  std::vector<std::string> parts;
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose)
    parts.push_back(fmt::format("{} {}", amount(purpose), dist::purpose_names.at(purpose)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

double exposed_exchange(const BenchResult& result) {
  return result.waited_seconds.at(static_cast<std::size_t>(dist::Purpose::exchange));
}

}  // namespace

nlohmann::ordered_json to_json(const BenchResult& result, const Options& used) {
  nlohmann::ordered_json sent;
  nlohmann::ordered_json exposed;
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose) {
    sent[dist::purpose_names.at(purpose)] = result.sent_bytes.at(purpose);
    exposed[dist::purpose_names.at(purpose)] = result.waited_seconds.at(purpose);
  }
  nlohmann::ordered_json json{{"tokens_per_s", rows_per_second(result)},
                              {"median_step_s", result.step_seconds},
                              {"quartiles_step_s", {result.lower_quartile, result.upper_quartile}},
                              {"rows_per_s", rows_per_second(result)},
                              {"gemm_fraction", result.product_seconds / result.step_seconds},
                              {"flops_per_update", result.flops},
                              {"parameters", result.parameters},
                              {"table_parameters", result.table_parameters},
                              {"peak_bytes", result.peak_bytes},
                              {"activation_bytes", result.activation_bytes},
                              {"page_faults_per_update", result.page_faults},
                              {"sent_bytes_per_update", sent},
                              {"exposed_exchange_s", exposed_exchange(result)},
                              {"exposed_s", exposed},
                              {"ponder", nullptr},
                              {"ponder_detail", to_json(result.ponder_times)},
                              {"ranks", used.ranks},
                              {"iterations", used.bench.iterations},
                              {"options", recorded_options(used, command_bench)}};
  if (used.bench.decode) json["gemm_fraction"] = json["flops_per_update"] = nullptr;
  if (!result.ponder_times.is_empty()) json["ponder"] = result.ponder_times.mean();
  return json;
}

std::string describe(const BenchResult& result, const Options& used) {
  const std::string_view measured = used.bench.decode ? "batch" : "update";
  std::string text =
      fmt::format("{:<10}{} (median of {}; the middle half took {} to {}); {} tokens/s\n",
                  used.bench.decode ? "decode" : "update", readable_seconds(result.step_seconds), used.bench.iterations,
                  readable_seconds(result.lower_quartile), readable_seconds(result.upper_quartile),
                  readable_count(rows_per_second(result))) +
      (used.bench.decode
           ? ""
           : fmt::format("products  {} in the matrix products, which by themselves take {:.1f} % of that time\n",
                         readable(result.flops, "FLOP"), 100 * result.product_seconds / result.step_seconds)) +
      fmt::format("memory    at most {} on a rank, {} of it only during the {}; {} per {}\n",
                  readable_bytes(result.peak_bytes), readable_bytes(result.activation_bytes), measured,
                  base::counted(result.page_faults, "page fault"), measured);
  text += fmt::format("sent      {} (per {}, all ranks together)\n",
                      by_purpose([&](std::size_t purpose) { return readable_bytes(result.sent_bytes.at(purpose)); }),
                      measured);
  text +=
      fmt::format("exposed   {} (wait per {}, mean over ranks)\n",
                  by_purpose([&](std::size_t purpose) { return waited(result.waited_seconds.at(purpose)); }), measured);
  if (!result.ponder_times.is_empty())
    text += describe(result.ponder_times) + "\n" + describe_histogram(result.ponder_times);
  return text;
}

}  // namespace ut::launcher
