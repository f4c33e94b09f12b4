#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "core/block.h"
#include "dist/communicator.h"
#include "dist/sequence_exchange.h"
#include "tests/golden/case.h"

namespace ut::golden {

/// The numbers of the entries of `real` [sequences, length] that are not 0, each sequence's after the one's before.
at::Tensor real_rows(const at::Tensor& real);

/// As many sequences as `real` [sequences, length] has, each with its entries that are not 0. Throws NotSupported where
/// one has none: the authors' program lets its rows look at padding then.
dist::Sequences sequences_of(const at::Tensor& real);

/// The authors' padded batches, of which our rows have no notion: every position of `real` [sequences, length] is a
/// local row and asks, but only positions that are not 0 there are seen by others.
std::shared_ptr<const dist::SequenceExchange> make_padded_exchange(const at::Tensor& real);

bool all_real(const at::Tensor& real);

/// Where the case has the authors' pad remover, makes an encoder's transitions give exactly 0 at padded rows.
void remove_padding(const Case& golden, core::Block& block, const at::Tensor& real);

}  // namespace ut::golden
