#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dist/communicator.h"
#include "launcher/options/options.h"
#include "launcher/run/ponder_histogram.h"

namespace ut::launcher {

/// What `ut bench` measured, over all ranks.
struct BenchResult {
  std::int64_t rows = 0;      // source and target rows of the batch
  double step_seconds = 0;    // median over the updates of the slowest rank's time
  double lower_quartile = 0;  // quartiles of the same
  double upper_quartile = 0;
  double product_seconds = 0;  // mean over ranks: what an update's matrix products take alone
  double flops = 0;            // of an update's matrix products, all ranks together
  std::int64_t parameters = 0;
  std::int64_t table_parameters = 0;     // those of the table of symbols
  std::int64_t peak_bytes = 0;           // the most that tensors held during an update, on the rank with most
  std::int64_t activation_bytes = 0;     // the same without what they held between updates
  std::int64_t page_faults = 0;          // in an update, on the rank with most: 0 if its buffers are reused
  dist::SentBytes sent_bytes{};          // in an update, by purpose
  dist::WaitedSeconds waited_seconds{};  // in an update, mean over ranks: not hidden behind work, by purpose
  PonderHistograms ponder_times;         // in the measured updates
};

/// `used`: the options, with the chosen value for each that was not given.
nlohmann::ordered_json to_json(const BenchResult& result, const Options& used);
/// A few lines for a person.
std::string describe(const BenchResult& result, const Options& used);

}  // namespace ut::launcher
