#include "launcher/bench/bench_examples.h"

#include "base/philox.h"

namespace ut::launcher {

std::vector<datasets::Example> bench_examples(const Options& options) {
  const BenchOptions& bench = options.bench;
  base::Random random(base::mix(options.seed, 0));
  const auto symbol = [&] { return random.uniform(0, bench.vocabulary - 1); };
  std::vector<datasets::Example> examples;
  for (std::int64_t index = 0; index < options.batch; ++index) {
    const auto shortest = bench.min_length == 0 ? bench.length : bench.min_length;
    const std::int64_t length = random.uniform(shortest, bench.length);
    datasets::Example example;
    for (std::int64_t row = 0; row < length && !bench.decoder_only; ++row) example.source.push_back({symbol()});
    for (std::int64_t row = 0; row < length && !bench.encoder_only; ++row) example.target.push_back(symbol());
    if (bench.encoder_only) example.answer = symbol();
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace ut::launcher
