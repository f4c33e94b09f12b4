#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "core/block.h"
#include "dist/communicator.h"
#include "dist/sequence_exchange.h"
#include "tests/golden/case.h"

namespace ut::golden {

/// The numbers of the non-zero entries of `real` [sequences, length], counted sequence after sequence.
at::Tensor real_rows(const at::Tensor& real);

/// The sequences of `real` [sequences, length], each as long as it has non-zero entries. Throws NotSupported if one has
/// none: in the authors' program its rows would then attend to padding.
dist::Sequences sequences_of(const at::Tensor& real);

/// An exchange for the authors' padded batches, which our rows have no notion of: every position of `real` [sequences,
/// length] is a local row with a query, but other rows see only the positions where `real` is not 0.
std::shared_ptr<const dist::SequenceExchange> make_padded_exchange(const at::Tensor& real);

bool all_real(const at::Tensor& real);

/// If the case uses the authors' pad remover, makes an encoder's transitions give exactly 0 at padded rows.
void remove_padding(const Case& golden, core::Block& block, const at::Tensor& real);

}  // namespace ut::golden
