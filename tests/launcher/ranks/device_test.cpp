#include "launcher/ranks/device.h"

#include <gmock/gmock.h>

#include "launcher/ranks/agree.h"
#include "launcher/ranks/shared_values.h"
#include "tests/bad_input.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const VisibleGpus left_out{};
const VisibleGpus none_there{.in_build = true, .count = 0, .problem = "no driver"};
const VisibleGpus four{.in_build = true, .count = 4, .problem = ""};

std::string device_refused(const VisibleGpus& gpus) {
  return tests::bad_input([&] { choose_device(DeviceChoice::cuda, gpus, 0); });
}

std::string places_refused(const std::vector<std::string>& places) {
  const std::vector<std::string> problems = {"host a: ", "host b: no driver", "host a: "};
  return tests::bad_input([&] { check_places(places, problems, false); });
}

TEST(Device, IsTheCpuIfRequestedOrNoGpuCanBeUsed) {
  EXPECT_FALSE(choose_device(DeviceChoice::cpu, four, 0).cuda);
  EXPECT_FALSE(choose_device(DeviceChoice::automatic, left_out, 0).cuda);
  EXPECT_FALSE(choose_device(DeviceChoice::automatic, none_there, 0).cuda);
}

TEST(Device, IsTheGpuOfTheLocalRank) {
  for (const DeviceChoice asked : {DeviceChoice::automatic, DeviceChoice::cuda})
    for (const int local_rank : {0, 1, 3}) {
      const RankDevice device = choose_device(asked, four, local_rank);
      EXPECT_TRUE(device.cuda);
      EXPECT_EQ(device.gpu, local_rank);
    }
  const VisibleGpus own{.in_build = true, .count = 1, .problem = ""};  // the launcher shows each rank its own GPU alone
  EXPECT_EQ(choose_device(DeviceChoice::cuda, own, 3).gpu, 0);
}

TEST(Device, IsRefusedWithReasonAndRemedyIfUnavailable) {
  EXPECT_THAT(device_refused(left_out), AllOf(HasSubstr("--device cuda: CUDA is left out of this build"),
                                              HasSubstr("./quickstart build --cuda")));
  EXPECT_THAT(device_refused(none_there),
              AllOf(HasSubstr("no GPU is visible here (no driver)"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST(Device, UnusedDevicesOfAHostAreReported) {
  for (const char* visible : {static_cast<const char*>(nullptr), "0,1"})
    EXPECT_THAT(say_of_unused_gpus(DeviceChoice::automatic, none_there, 2, visible),
                AllOf(HasSubstr("this host has GPUs, but they are not used"), HasSubstr("no driver")));
  for (const char* hidden : {"", "-1"})
    EXPECT_EQ(say_of_unused_gpus(DeviceChoice::automatic, none_there, 2, hidden), "");
  EXPECT_EQ(say_of_unused_gpus(DeviceChoice::automatic, none_there, 0, nullptr), "");
  EXPECT_EQ(say_of_unused_gpus(DeviceChoice::automatic, left_out, 2, nullptr), "");
  EXPECT_EQ(say_of_unused_gpus(DeviceChoice::automatic, four, 4, nullptr), "");
  EXPECT_EQ(say_of_unused_gpus(DeviceChoice::cpu, none_there, 2, nullptr), "");
}

TEST(Device, IsRefusedForTwoRanksUnlessShared) {
  const std::vector<std::string> places = {"host a, PCI 1", "host a, PCI 2", "host b, PCI 1", "host a, PCI 1"};
  EXPECT_THAT(places_refused(places),
              AllOf(HasSubstr("ranks 0 and 3"), HasSubstr("host a, PCI 1"), HasSubstr("--share-gpus")));
  EXPECT_TRUE(check_places(places, {}, true));
}

TEST(Device, IsAcceptedIfEachRankHasItsOwn) {
  EXPECT_FALSE(check_places({"host a, PCI 1", "host a, PCI 2", "host b, PCI 1"}, {}, false));
  EXPECT_FALSE(check_places({"", "", ""}, {}, false)) << "all on the CPU";
}

TEST(Device, IsOfOneKindOnAllRanks) {
  EXPECT_THAT(places_refused({"host a, PCI 1", "", "host a, PCI 2"}),
              AllOf(HasSubstr("rank 1 has no GPU, but rank 0 has one (host a, PCI 1): host b: no driver;"),
                    HasSubstr("--device cpu")));
}

TEST(Device, DecidesTheCommunicator) {
  const RankDevice cpu;
  const RankDevice gpu{.cuda = true};
  const RankDevice shared{.cuda = true, .gpu = 0, .shared = true};
  EXPECT_EQ(choose_communicator(CommunicatorChoice::automatic, cpu), CommunicatorChoice::mpi);
  EXPECT_EQ(choose_communicator(CommunicatorChoice::automatic, gpu), CommunicatorChoice::nccl);
  EXPECT_EQ(choose_communicator(CommunicatorChoice::automatic, shared), CommunicatorChoice::mpi);
  EXPECT_EQ(choose_communicator(CommunicatorChoice::mpi, gpu), CommunicatorChoice::mpi);
  EXPECT_EQ(choose_communicator(CommunicatorChoice::nccl, shared), CommunicatorChoice::nccl);
  EXPECT_THAT(tests::bad_input([&] { choose_communicator(CommunicatorChoice::nccl, cpu); }),
              AllOf(HasSubstr("--communicator nccl"), HasSubstr("--device cuda")));
}

TEST(Device, IsAgreedOnByTheRanks) {
  const auto world = dist::make_single_communicator();
  Options options;
  EXPECT_FALSE(agree_on_device(options, 0, *world).cuda);
  options.device = DeviceChoice::cuda;
  EXPECT_THROW(agree_on_device(options, 0, *world), AgreedBadInput);
}

TEST(SharedText, HasTheTextOfEveryRank) {
  EXPECT_THAT(texts_of_ranks("one", *dist::make_single_communicator()), ElementsAre("one"));
  EXPECT_THAT(texts_of_ranks("", *dist::make_single_communicator()), ElementsAre(""));
  for (const std::int64_t letters_in_message : {1, 2, 3, 1000})
    EXPECT_THAT(texts_at_first("one", *dist::make_single_communicator(), letters_in_message), ElementsAre("one"));
}

}  // namespace
}  // namespace ut::launcher
