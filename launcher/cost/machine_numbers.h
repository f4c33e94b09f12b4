#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ut::launcher {

/// How much a second, where `size` is done at once.
struct RatePoint {
  double size;
  double per_second;
};

/// Ascending by size, not empty.
using RateCurve = std::vector<RatePoint>;

/// Between the points over the logarithms of both; beyond the ends as at the ends.
double rate_at(const RateCurve& curve, double size);

/// Between ranks, as collectives see it.
struct Link {
  double latency = 0;  // seconds that a round of a collective takes however little is sent
  RateCurve gather;    // bytes/s, by the bytes that a rank receives
  RateCurve reduce;    // the same where what is received is summed
};

/// What a machine can do, as the cost model takes it. Rates are those of one rank while the others work too.
struct MachineNumbers {
  std::string source;          // where they come from, for who reads a prediction
  RateCurve products;          // flop/s, by the flop of a matrix product
  RateCurve batched_products;  // flop/s, by the flop of each of many products made at once
  RateCurve element_wise;      // bytes/s read and written, by the bytes of an operation
  double random_numbers = 0;   // of dropout, a second
  double exponentials = 0;     // of softmax, a second
  double row_moves = 0;        // of a head's part of a row to where an index says, a second; beside the bytes moved
  double operation = 0;        // seconds that an operation takes however little it does
  bool asynchronous = false;   // whether operations are queued: the next is prepared while one is done
  double overlap = 0;          // share of work under a transfer that hides it
  double overhead = 1;         // by how much longer an update's work takes than its parts add up to
  double unevenness = 0;       // share of its work for which a rank waits until the others have done theirs
  double memory_bytes = 0;     // of a rank
  Link within;                 // a node
  Link between;                // nodes; rates are those of all of a node's ranks together
  std::int64_t cores_per_node = 0;  // 0: each rank has a device of its own
  std::int64_t threads = 1;         // of a rank
  std::int64_t ranks_per_node = 1;  // that worked while this was measured
};

/// Names of the accelerators that machine_named() knows.
std::vector<std::string> machine_names();
/// Numbers from a public data sheet, of which the share that programs are seen to reach. Throws base::BadInput.
MachineNumbers machine_named(const std::string& name);

nlohmann::ordered_json to_json(const MachineNumbers& numbers);
/// Reads the text of what to_json() gave. Throws base::BadInput that names `origin` and what is missing or wrong there.
MachineNumbers parse_machine_numbers(const std::string& text, const std::string& origin);

}  // namespace ut::launcher
