#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launcher/options/options.h"

namespace ut::launcher {

/// Shows a trained model, no LSTM, at work on some examples. `run`: the options of `ut evaluate`. `report`: says which
/// examples. Returns
///   "checkpoint", and "examples": [{
///     "number", "source": [text of each row],
///     with a decoder "given" and "wanted": [symbol of each row, read and asked for; "<start>" if it reads none, empty
///       if nothing is asked], "said": [symbols that the model finds likeliest, each after the right ones before it];
///     without a decoder "wanted" and "said": [the answer],
///     "stacks": {"encoder": {"halting", "most", "updates": [rows], "ponder": [rows], updates + remainder}, "decoder"},
///     "maps": {"encoder": [{"step", "layer", "queries": [rows that ran], "weights": [head][query][key] in
///       1/10000}, …], "decoder", "source": the decoder's over the encoder's rows}}]
/// Null if the model's outputs are not finite.
/// Throws base::BadInput if the run has no checkpoint, its data cannot be read, or no example is short enough.
nlohmann::ordered_json look_inside(const Options& run, const ReportOptions& report);

}  // namespace ut::launcher
