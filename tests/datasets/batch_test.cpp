#include "datasets/batch.h"

#include <gtest/gtest.h>

namespace ut::datasets {
namespace {

TEST(Batch, CountsTargetRowsOrOneAnswerAnExample) {
  std::vector<Example> examples;
  const auto expect = [&](std::int64_t labels, std::int64_t rows) {
    const Batch batch = batch_of(examples);
    EXPECT_EQ(batch.labels(), labels);
    EXPECT_EQ(batch.rows(), rows);
  };
  expect(0, 0);
  examples.push_back({{{4}, {5}, {1}}, {5, 1}, -1});
  expect(2, 5);
  examples.push_back({{{4, 5, 6}, {7, 8}}, {}, 3});  // a question and a fact: two rows, one label
  expect(3, 7);
  examples.push_back({{{4}}, {}, no_answer});
  expect(3, 8);
}

}  // namespace
}  // namespace ut::datasets
