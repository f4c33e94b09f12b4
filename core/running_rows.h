#pragma once

#include <memory>

#include "core/stack_rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// The rows of the exchange's sequences that have not halted. `memory`: the rows of the memory, in a decoder.
/// `balance`: see dist::RunningExchange. The exchange must live as long as this.
std::shared_ptr<StackRows> make_running_rows(const dist::SequenceExchange& exchange, bool causal,
                                             const dist::Rows* memory, double balance);

}  // namespace ut::core
