#include "dist/nccl_library.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace ut::dist {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const NcclLibraries& libraries) {
  try {
    check_one_nccl(libraries);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(NcclLibrary, IsAcceptedIfItIsTheOnlyOneAndNewEnough) {
  EXPECT_EQ(refusal({{"/torch/libnccl.so.2"}, 22809, 22809, 22809}), "");
  EXPECT_EQ(refusal({{"/newer/libnccl.so.2"}, 23001, 22809, 22703}), "") << "a newer one has all that an older one has";
}

TEST(NcclLibrary, IsRefusedWithBothPathsIfThereAreTwo) {
  EXPECT_THAT(refusal({{"/torch/libnccl.so.2", "/usr/lib/libnccl.so.2"}, 22809, 22809, 22809}),
              AllOf(HasSubstr("/torch/libnccl.so.2, /usr/lib/libnccl.so.2"), HasSubstr("LD_LIBRARY_PATH")));
}

TEST(NcclLibrary, IsRefusedIfOlderThanItsCallersWereCompiledFor) {
  EXPECT_THAT(refusal({{"/usr/lib/libnccl.so.2"}, 22703, 22703, 22809}),
              AllOf(HasSubstr("LibTorch was compiled for 2.28.9"), HasSubstr("runs with 2.27.3")));
  EXPECT_THAT(
      refusal({{"/usr/lib/libnccl.so.2"}, 21805, 22809, 21805}),
      AllOf(HasSubstr("this program was compiled for 2.28.9"), HasSubstr("runs with 2.18.5"), HasSubstr("/usr/lib")));
}

}  // namespace
}  // namespace ut::dist
