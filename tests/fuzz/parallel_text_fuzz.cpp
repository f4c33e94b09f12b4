// Lines in one language and, in a second part, in the other.

#include "datasets/subword_training.h"
#include "datasets/subwords.h"
#include "datasets/task_options.h"
#include "tests/datasets/toy_parallel_text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/task.h"

namespace {

using namespace ut;

std::string made_up_pieces() {
  const tests::TemporaryDirectory directory;
  tests::write_toy_parallel_text(directory, 200, 1);
  datasets::TaskOptions options;
  options.data = directory.path().string();
  return datasets::train_subwords(options, {60, "bpe", 1});
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::TemporaryDirectory directory;
  static const bool has_pieces = (tests::overwrite(directory, datasets::subword_model_name, made_up_pieces()), true);
  tests::require(has_pieces, "no pieces");
  const std::vector<std::string> parts = tests::parts_of(data, size, 2);
  for (const std::string set : {"train", "validation", "test"}) {
    tests::overwrite(directory, set + ".en", parts[0]);
    tests::overwrite(directory, set + ".de", parts[1]);
  }
  datasets::TaskOptions options;
  options.task = "translation";
  options.data = directory.path().string();
  tests::try_task(options);
  return 0;
}
