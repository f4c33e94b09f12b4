#pragma once

#include <memory>

#include "core/stack_rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// All rows of the exchange's sequences in every step. `memory`: the rows of the memory, in a decoder with an encoder;
/// else null. `head`: of the self-attention. The exchange must outlive the result.
std::shared_ptr<StackRows> make_whole_rows(const dist::SequenceExchange& exchange, bool causal,
                                           const dist::Rows* memory, const HeadKind& head);

}  // namespace ut::core
