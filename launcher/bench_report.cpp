#include "launcher/bench_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "launcher/forward_products.h"
#include "launcher/option_table.h"

namespace ut::launcher {
namespace {

constexpr std::array<const char*, dist::purposes> purpose_names = {"exchange", "gradients", "control"};

std::string readable_bytes(std::int64_t bytes) {
  auto amount = static_cast<double>(bytes);
  const std::array<const char*, 4> units = {"B", "kB", "MB", "GB"};
  std::size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < units.size(); ++unit) amount /= 1000;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 2, units.at(unit));
}

double rows_per_second(const BenchResult& result) { return static_cast<double>(result.rows) / result.step_seconds; }

double exposed_exchange(const BenchResult& result) {
  return result.waited_seconds.at(static_cast<std::size_t>(dist::Purpose::exchange));
}

}  // namespace

nlohmann::ordered_json to_json(const BenchResult& result, const Options& used) {
  nlohmann::ordered_json sent;
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose)
    sent[purpose_names.at(purpose)] = result.sent_bytes.at(purpose);
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
                              {"ponder", nullptr},
                              {"ponder_detail", to_json(result.pondered)},
                              {"ranks", used.ranks},
                              {"iterations", used.bench.iterations},
                              {"options", recorded_options(used, command_bench)}};
  if (used.bench.decode) json["gemm_fraction"] = json["flops_per_update"] = nullptr;
  if (!result.pondered.is_empty()) json["ponder"] = result.pondered.mean();
  return json;
}

std::string describe(const BenchResult& result, const Options& used) {
  std::string text =
      fmt::format("{}    {:.4g} s, the median of {}, half of them in {:.4g} to {:.4g}; {:.4g} tokens/s\n",
                  used.bench.decode ? "decode" : "update", result.step_seconds, used.bench.iterations,
                  result.lower_quartile, result.upper_quartile, rows_per_second(result)) +
      (used.bench.decode ? ""
                         : fmt::format("products  take {:.1f} % of that alone, {}\n",
                                       100 * result.product_seconds / result.step_seconds,
                                       describe(FlopsRange{result.flops, result.flops}))) +
      fmt::format("memory    {} on the rank with most, {} of it for the update; {} new pages an update\n",
                  readable_bytes(result.peak_bytes), readable_bytes(result.activation_bytes), result.page_faults);
  text += "sent      ";
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose)
    text += fmt::format("{} {}, ", readable_bytes(result.sent_bytes.at(purpose)), purpose_names.at(purpose));
  text += "an update, all ranks together\n";
  text += fmt::format("exposed   {:.4g} s of an update a rank waits for the exchange\n", exposed_exchange(result));
  if (!result.pondered.is_empty()) text += describe(result.pondered) + "\n" + describe_histogram(result.pondered);
  return text;
}

}  // namespace ut::launcher
