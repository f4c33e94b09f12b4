// A file of stories in bAbI's format.

#include "datasets/babi_file.h"
#include "datasets/task_options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/task.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ut;
  static const tests::TemporaryDirectory directory;
  const std::string content(reinterpret_cast<const char*>(data), size);
  bool is_read = false;
  for (const auto commas : {datasets::AnswerCommas::keep, datasets::AnswerCommas::drop}) {
    datasets::WordTable table;
    is_read = tests::try_action([&] { datasets::read_babi_stories(content, "stories", commas, table); });
  }
  if (!is_read) return 0;
  for (const std::string split : {"train", "test"}) tests::overwrite(directory, "qa8_lists_" + split + ".txt", content);
  datasets::TaskOptions options;
  options.task = "babi";
  options.data = directory.path().string();
  for (const std::string task : {"8", "all"}) {
    options.babi_task = task;
    options.babi_memory = task == "8" ? 0 : 2;
    tests::try_task(options);
  }
  return 0;
}
