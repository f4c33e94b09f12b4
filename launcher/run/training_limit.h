#pragma once

#include <cstdint>
#include <string>

#include "launcher/options/options.h"
#include "launcher/run/run_state.h"

namespace ut::launcher {

/// The option that ends training after `update`, with the value that would allow more (`--max-updates above 40`); empty
/// if none does. `time_is_over`: agreed by the ranks, whose clocks differ.
std::string limit_reached(const Options& options, std::int64_t update, const RunState& run, bool time_is_over);
/// The message if training has reached `limit`.
std::string nothing_left(std::int64_t update, const std::string& limit);

}  // namespace ut::launcher
