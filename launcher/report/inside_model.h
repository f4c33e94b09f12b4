#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launcher/options/options.h"

namespace ut::launcher {

/// A trained model, no LSTM, at work on some examples: `run` as `ut evaluate` has it, `report` says which examples.
///   "checkpoint", and "examples": [{
///     "number", "source": [text of each row], with a decoder "given" and "wanted": [symbol of each row, read and asked
///     for; the latter empty where nothing is asked], "said": [symbols that it finds likeliest, each after the right
///     ones before it]; without "wanted" and "said": [the answer] "stacks": {"encoder": {"halting", "most", "updates":
///     [rows], "ponder": [rows], updates + remainder}, "decoder"} "maps": {"encoder": [{"step", "layer", "queries":
///     [rows that ran], "weights": [head][query][key] in 1/10000}, …], "decoder", "source": the decoder's over the
///     encoder's rows}}]
/// Throws base::BadInput where the run has no checkpoint, its data cannot be read, or no example is short enough.
nlohmann::ordered_json look_inside(const Options& run, const ReportOptions& report);

}  // namespace ut::launcher
