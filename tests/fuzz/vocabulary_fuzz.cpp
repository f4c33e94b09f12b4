// A list of symbols, one a line.

#include "datasets/vocabulary.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ut;
  static const tests::TemporaryDirectory directory;
  const std::string content(reinterpret_cast<const char*>(data), size);
  tests::put(directory, "vocabulary.txt", content);
  tests::taken([&] {
    const auto read = datasets::Vocabulary::read(directory.path() / "vocabulary.txt");
    tests::put(directory, "vocabulary.txt", read.text());
    tests::require(datasets::Vocabulary::read(directory.path() / "vocabulary.txt").digest() == read.digest(),
                   "other symbols than were written");
  });
  return 0;
}
