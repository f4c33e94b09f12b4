#include "launcher/cost/machine_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/json.h"

namespace ut::launcher {
namespace {

/// The data sheet of one accelerator. Tensor cores are not used for float32.
struct DataSheet {
  double float32_flops;
  double memory_bandwidth;  // bytes/s
  double memory_bytes;
  double within_bandwidth;   // bytes/s, one direction: NVLink or PCIe
  double between_bandwidth;  // bytes/s, one direction, of one accelerator's network adapter
};

const std::map<std::string, DataSheet>& data_sheets() {
  static const std::map<std::string, DataSheet> sheets = {
      {"a100", {19.5e12, 2.039e12, 80e9, 300e9, 25e9}},
      {"h100", {67e12, 3.35e12, 80e9, 450e9, 50e9}},
      {"h200", {67e12, 4.8e12, 141e9, 450e9, 50e9}},
  };
  return sheets;
}

/// The rate of work that takes size / full_rate seconds plus a fixed time, which halves the rate at half_size.
RateCurve saturating(double full_rate, double half_size) {
  RateCurve curve;
  for (int power = -3; power <= 6; ++power) {
    const double size = half_size * std::pow(4, power);
    curve.push_back({size, full_rate * size / (size + half_size)});
  }
  return curve;
}

nlohmann::ordered_json curve_to_json(const RateCurve& curve) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const RatePoint& point : curve) points.push_back({point.size, point.per_second});
  return points;
}

nlohmann::ordered_json link_to_json(const Link& link) {
  return {{"latency", link.latency}, {"gather", curve_to_json(link.gather)}, {"reduce", curve_to_json(link.reduce)}};
}

/// Reads numbers from a file's JSON. Throws base::BadInput that says what is wrong with them.
class Reader {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}

  [[noreturn]] void refuse(const std::string& name, const std::string& needs) const {
    throw base::BadInput("{}: \"{}\" needs {}; ut plan --save-calibration FILE writes a complete file", origin_, name,
                         needs);
  }
  double number(const nlohmann::json& from, const std::string& name) const {
    const auto found = from.find(name);
    if (found == from.end() || !found->is_number() || found->get<double>() < 0) refuse(name, "a number of at least 0");
    return found->get<double>();
  }
  double positive(const nlohmann::json& from, const std::string& name) const {
    const double value = number(from, name);
    if (value <= 0) refuse(name, "a number above 0");
    return value;
  }
  std::int64_t count(const nlohmann::json& from, const std::string& name, double least) const {
    constexpr double most = 1 << 30;
    const double value = number(from, name);
    if (value < least || value > most) refuse(name, fmt::format("a number from {:.0f} to {:.0f}", least, most));
    return static_cast<std::int64_t>(value);
  }
  RateCurve curve(const nlohmann::json& from, const std::string& name) const {
    RateCurve result;
    const auto found = from.find(name);
    const bool is_list = found != from.end() && found->is_array() && !found->empty();
    for (const auto& point : is_list ? *found : nlohmann::json::array()) {
      const bool is_pair = point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
      if (!is_pair) break;
      const RatePoint read{point[0].get<double>(), point[1].get<double>()};
      const double least = result.empty() ? 0 : result.back().size;
      if (read.size <= least || read.per_second <= 0) break;
      result.push_back(read);
    }
    if (!is_list || result.size() != found->size())
      refuse(name, "a list of [size, rate], both above 0, ascending by size");
    return result;
  }
  Link link(const nlohmann::json& from, const std::string& name) const {
    const auto found = from.find(name);
    if (found == from.end() || !found->is_object()) refuse(name, "an object with latency, gather and reduce");
    return {number(*found, "latency"), curve(*found, "gather"), curve(*found, "reduce")};
  }

 private:
  std::string origin_;
};

}  // namespace

double rate_at(const RateCurve& curve, double size) {
  if (size <= curve.front().size) return curve.front().per_second;
  if (size >= curve.back().size) return curve.back().per_second;
  const auto above = std::ranges::find_if(curve, [size](const RatePoint& point) { return point.size > size; });
  const RatePoint& high = *above;
  const RatePoint& low = *(above - 1);
  const double share = std::log(size / low.size) / std::log(high.size / low.size);
  return low.per_second * std::pow(high.per_second / low.per_second, share);
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& [name, sheet] : data_sheets()) names.push_back(name);
  return names;
}

MachineNumbers machine_named(const std::string& name) {
  const auto found = data_sheets().find(name);
  if (found == data_sheets().end())
    throw base::BadInput("--machine: \"{}\" given, needs one of {}", name, fmt::join(machine_names(), ", "));
  const DataSheet& sheet = found->second;
  constexpr double attainable = 0.7;
  constexpr double gpus_per_node = 8;
  MachineNumbers numbers;
  numbers.source = fmt::format("data sheet of {}, {:.0f} % of its rates, float32, {:.0f} adapters a node", name,
                               100 * attainable, gpus_per_node);
  numbers.products = saturating(attainable * sheet.float32_flops, 2e8);
  numbers.batched_products = saturating(attainable * sheet.float32_flops, 2e6);
  numbers.element_wise = saturating(attainable * sheet.memory_bandwidth, 4e6);
  numbers.random_numbers = attainable * sheet.memory_bandwidth / 4;
  numbers.exponentials = attainable * sheet.memory_bandwidth / 4;
  numbers.row_moves = attainable * sheet.memory_bandwidth / 32;
  numbers.operation = 6e-6;
  numbers.asynchronous = true;
  numbers.overlap = 1;
  numbers.memory_bytes = sheet.memory_bytes;
  const auto link = [](double latency, double bandwidth) {
    const RateCurve rate = saturating(attainable * bandwidth, 1e5);
    return Link{latency, rate, rate};
  };
  numbers.within = link(8e-6, sheet.within_bandwidth);
  numbers.between = link(15e-6, gpus_per_node * sheet.between_bandwidth);
  numbers.ranks_per_node = static_cast<std::int64_t>(gpus_per_node);
  return numbers;
}

MachineNumbers machine_of_gpu(const std::string& name, double memory_bytes) {
  std::string kind = name;
  std::ranges::transform(kind, kind.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const std::vector<std::string> known = machine_names();
  const auto named =
      std::ranges::find_if(known, [&](const std::string& sheet) { return kind.find(sheet) != std::string::npos; });
  MachineNumbers numbers = machine_named(named == known.end() ? "h100" : *named);
  numbers.source = fmt::format("{}, by the {}", name, numbers.source);
  numbers.memory_bytes = memory_bytes;
  return numbers;
}

nlohmann::ordered_json to_json(const MachineNumbers& numbers) {
  return {{"source", numbers.source},
          {"products", curve_to_json(numbers.products)},
          {"batched_products", curve_to_json(numbers.batched_products)},
          {"element_wise", curve_to_json(numbers.element_wise)},
          {"random_numbers", numbers.random_numbers},
          {"exponentials", numbers.exponentials},
          {"row_moves", numbers.row_moves},
          {"operation", numbers.operation},
          {"asynchronous", numbers.asynchronous},
          {"overlap", numbers.overlap},
          {"overhead", numbers.overhead},
          {"unevenness", numbers.unevenness},
          {"memory_bytes", numbers.memory_bytes},
          {"within", link_to_json(numbers.within)},
          {"between", link_to_json(numbers.between)},
          {"cores_per_node", numbers.cores_per_node},
          {"threads", numbers.threads},
          {"ranks_per_node", numbers.ranks_per_node}};
}

MachineNumbers parse_machine_numbers(const std::string& text, const std::string& origin) {
  const auto json = base::parse_json(text);
  if (!json.is_object()) throw base::BadInput("{}: not a JSON object", origin);
  const Reader read(origin);
  MachineNumbers numbers;
  const auto source = json.find("source");
  const bool is_text = source != json.end() && source->is_string();
  numbers.source = is_text ? source->get<std::string>() : origin;
  numbers.products = read.curve(json, "products");
  numbers.batched_products = read.curve(json, "batched_products");
  numbers.element_wise = read.curve(json, "element_wise");
  numbers.random_numbers = read.positive(json, "random_numbers");
  numbers.exponentials = read.positive(json, "exponentials");
  numbers.row_moves = read.positive(json, "row_moves");
  numbers.operation = read.number(json, "operation");
  numbers.asynchronous = json.value("asynchronous", nlohmann::json(false)) == nlohmann::json(true);
  numbers.overlap = read.number(json, "overlap");
  numbers.overhead = read.positive(json, "overhead");
  numbers.unevenness = read.number(json, "unevenness");
  numbers.memory_bytes = read.positive(json, "memory_bytes");
  numbers.within = read.link(json, "within");
  numbers.between = read.link(json, "between");
  numbers.cores_per_node = read.count(json, "cores_per_node", 0);
  numbers.threads = read.count(json, "threads", 1);
  numbers.ranks_per_node = read.count(json, "ranks_per_node", 1);
  return numbers;
}

}  // namespace ut::launcher
