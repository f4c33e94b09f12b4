#include "datasets/batch.h"

#include <gtest/gtest.h>

namespace ut::datasets {
namespace {

TEST(Batch, CountsTargetRowsOrOneAnswerAnExample) {
  Batch batch;
  EXPECT_EQ(batch.labels(), 0);
  EXPECT_EQ(batch.rows(), 0);
  batch.examples.push_back({{{4}, {5}, {1}}, {5, 1}, -1});
  EXPECT_EQ(batch.labels(), 2);
  EXPECT_EQ(batch.rows(), 5);
  batch.examples.push_back({{{4, 5, 6}, {7, 8}}, {}, 3});  // a question and a fact: two rows, one label
  EXPECT_EQ(batch.labels(), 3);
  EXPECT_EQ(batch.rows(), 7);
  batch.examples.push_back({{{4}}, {}, no_answer});
  EXPECT_EQ(batch.labels(), 3);
}

}  // namespace
}  // namespace ut::datasets
