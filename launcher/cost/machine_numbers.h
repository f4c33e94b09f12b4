#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ut::launcher {

/// How much is done per second if `size` is done at once.
struct RatePoint {
  double size;
  double per_second;
};

/// Ascending by size, not empty.
using RateCurve = std::vector<RatePoint>;

/// The rate at `size`: interpolated between the logarithms of both, constant beyond the ends.
double rate_at(const RateCurve& curve, double size);

/// A link between ranks, as collectives see it.
struct Link {
  double latency = 0;  // seconds of a collective's round, however little is sent
  RateCurve gather;    // bytes/s, by the bytes that a rank receives
  RateCurve reduce;    // the same if what is received is summed
};

/// What a machine can do, for the cost model. Rates are those of one rank while the other ranks work too.
struct MachineNumbers {
  std::string source;               // where the numbers come from, for readers of a prediction
  RateCurve products;               // flop/s, by the flop of a matrix product
  RateCurve batched_products;       // flop/s, by the flop of each of many products made at once
  RateCurve element_wise;           // bytes/s read and written, by the bytes of an operation
  double random_numbers = 0;        // drawn for dropout, per second
  double exponentials = 0;          // of softmax, per second
  double row_moves = 0;             // of a head's part of a row to an indexed place, per second; beside the bytes moved
  double operation = 0;             // seconds of an operation, however little it does
  bool asynchronous = false;        // operations are queued: the next is prepared while one runs
  double overlap = 0;               // share of the work during a transfer that hides it
  double overhead = 1;              // time of an update's work / sum of its parts
  double unevenness = 0;            // wait for the other ranks' work, as a share of a rank's own
  double memory_bytes = 0;          // of a rank
  Link within;                      // a node
  Link between;                     // nodes; rates are those of all ranks of a node together
  std::int64_t cores_per_node = 0;  // 0: each rank has a device of its own
  std::int64_t threads = 1;         // of a rank
  std::int64_t ranks_per_node = 1;  // that worked during the measurement
};

/// Names of the accelerators that machine_named() knows.
std::vector<std::string> machine_names();
/// Numbers from a public data sheet, times the share that programs are seen to reach. Throws base::BadInput if the name
/// is unknown.
MachineNumbers machine_named(const std::string& name);
/// The sheet of a GPU by the name that it says, of an H100 if none is known, with the memory that it has.
MachineNumbers machine_of_gpu(const std::string& name, double memory_bytes);

nlohmann::ordered_json to_json(const MachineNumbers& numbers);
/// Reads what to_json() wrote. Throws base::BadInput that names `origin` and what is missing or wrong in it.
MachineNumbers parse_machine_numbers(const std::string& text, const std::string& origin);

}  // namespace ut::launcher
