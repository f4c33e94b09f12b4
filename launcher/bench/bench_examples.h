#pragma once

#include <vector>

#include "datasets/batch.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What `ut bench` trains on: symbols drawn from the vocabulary, lengths as asked for, a target as long as
/// its source or one label. A function of the options, the same on every rank.
std::vector<datasets::Example> bench_examples(const Options& options);

}  // namespace ut::launcher
