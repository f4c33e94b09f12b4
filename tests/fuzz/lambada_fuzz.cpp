// Passages for testing and, in a second part, passages for training.

#include "datasets/task_options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/task.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ut;
  static const tests::TemporaryDirectory directory;
  const std::vector<std::string> parts = tests::parts_of(data, size, 2);
  for (const std::string split : {"development", "test"})
    tests::overwrite(directory, "lambada_" + split + "_plain_text.txt", parts[0]);
  tests::overwrite(directory, "train.txt", parts[parts[1].empty() ? 0 : 1]);
  datasets::TaskOptions options;
  options.task = "lambada";
  options.data = directory.path().string();
  using Form = datasets::LambadaForm;
  for (const Form form : {Form::reading, Form::pointing, Form::language_model}) {
    options.lambada_form = form;
    options.vocabulary_size = form == Form::pointing ? 3 : 60000;
    if (!tests::try_task(options)) break;
  }
  return 0;
}
