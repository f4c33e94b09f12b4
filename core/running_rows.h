#pragma once

#include <memory>

#include "core/stack_rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// A set that rows leave when they halt, at first all rows of the exchange's sequences. `memory`: the rows of the
/// memory, in a decoder with an encoder; else null. `balance`: see dist::RunningExchange. Exchange and memory must
/// outlive the result.
std::shared_ptr<StackRows> make_running_rows(const dist::SequenceExchange& exchange, bool causal,
                                             const dist::Rows* memory, double balance);

}  // namespace ut::core
