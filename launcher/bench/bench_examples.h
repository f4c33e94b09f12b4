#pragma once

#include <vector>

#include "datasets/batch.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The batch that `ut bench` trains on: symbols drawn from the vocabulary, lengths as asked for, and as target a
/// sequence as long as the source, or one label. Depends on the options alone, so it is the same on every rank.
std::vector<datasets::Example> bench_examples(const Options& options);

}  // namespace ut::launcher
