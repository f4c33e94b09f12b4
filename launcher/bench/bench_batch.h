#pragma once

#include "datasets/batch.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The batch that `ut bench` trains on: symbols drawn from the vocabulary, lengths as asked for, a target as long as
/// its source or one label. A function of the options, the same on every rank.
datasets::Batch bench_batch(const Options& options);

}  // namespace ut::launcher
