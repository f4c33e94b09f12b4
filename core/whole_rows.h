#pragma once

#include <memory>

#include "core/stack_rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// All rows of the exchange's sequences at every step. `memory`: the rows of the memory, in a decoder. The exchange
/// must live as long as this.
std::shared_ptr<StackRows> make_whole_rows(const dist::SequenceExchange& exchange, bool causal,
                                           const dist::Rows* memory);

}  // namespace ut::core
