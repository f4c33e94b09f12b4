#include "launcher/ranks/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>

#include "base/error.h"
#include "dist/nccl.h"
#include "dist/staging.h"
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/patience.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

/// Why there is no GPU to run on; empty if there is one.
std::string missing(const VisibleGpus& gpus) {
  if (!gpus.in_build) return "CUDA is left out of this build; ./quickstart build --cuda makes one that has it";
  if (gpus.count == 0)
    return fmt::format("no GPU is visible here ({}); nvidia-smi and CUDA_VISIBLE_DEVICES say more", gpus.problem);
  return {};
}

}  // namespace

void wait_for(const at::Tensor& tensor) {
  if (!tensor.is_cpu()) tensor.flatten().narrow(0, 0, 1).cpu();
}

VisibleGpus gpus_for(DeviceChoice asked) { return asked == DeviceChoice::cpu ? VisibleGpus{} : find_gpus(); }

RankDevice choose_device(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t local_rank) {
  if (asked == DeviceChoice::cpu) return {};
  const std::string problem = missing(gpus);
  if (problem.empty()) return {.cuda = true, .gpu = static_cast<int>(local_rank % gpus.count)};
  if (asked == DeviceChoice::automatic) return {};
  throw base::BadInput("--device cuda: {}; --device cpu computes without a GPU", problem);
}

std::int64_t gpus_of_host() {
  static const std::regex gpu("nvidia[0-9]+");
  std::error_code ignored;
  const std::filesystem::directory_iterator devices("/dev", ignored);
  return std::ranges::count_if(
      devices, [](const auto& entry) { return std::regex_match(entry.path().filename().string(), gpu); });
}

std::string say_of_unused_gpus(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t on_host, const char* visible) {
  const bool is_hidden = visible != nullptr && (*visible == '\0' || *visible == '-');
  if (asked != DeviceChoice::automatic || !gpus.in_build || gpus.count > 0 || on_host == 0 || is_hidden) return {};
  return fmt::format("this host has GPUs, but they are not used: {}", missing(gpus));
}

bool check_places(const std::vector<std::string>& places, const std::vector<std::string>& problems, bool share_gpus) {
  std::map<std::string, std::size_t> ranks;  // the first rank of each place
  bool shared = false;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto [place, is_first] = ranks.emplace(places[rank], rank);
    if (is_first || places[rank].empty()) continue;
    shared = true;
    if (!share_gpus)
      throw base::BadInput(
          "--device: ranks {} and {} would share one GPU, or slices (MIG) of one ({}); start at most as many ranks on "
          "a "
          "host as it has GPUs (--ranks, mpirun -n, --ntasks-per-node), or allow it with --share-gpus",
          place->second, rank, places[rank]);
  }
  const auto without = ranks.find("");
  if (without != ranks.end() && ranks.size() > 1)
    throw base::BadInput(
        "--device: rank {} has no GPU, but rank {} has one ({}): {}; start ranks only where GPUs can be used, or give "
        "--device cpu",
        without->second, std::next(without)->second, std::next(without)->first, problems[without->second]);
  return shared;
}

CommunicatorChoice choose_communicator(CommunicatorChoice asked, const RankDevice& device) {
  if (asked == CommunicatorChoice::nccl && !device.cuda)
    throw base::BadInput(
        "--communicator nccl: connects only GPUs, but this run is on the CPU; give mpi, or --device cuda");
  if (asked != CommunicatorChoice::automatic) return asked;
  return device.cuda && !device.shared ? CommunicatorChoice::nccl : CommunicatorChoice::mpi;
}

RankDevice agree_on_device(const Options& options, std::int64_t local_rank, dist::Communicator& world) {
  RankDevice device;
  const VisibleGpus gpus = gpus_for(options.device);
  agree(world, [&] { device = choose_device(options.device, gpus, local_rank); });
  const std::string unused =
      say_of_unused_gpus(options.device, gpus, gpus_of_host(), std::getenv("CUDA_VISIBLE_DEVICES"));
  if (world.rank() == 0 && !unused.empty()) say(unused);
  const auto places = texts_of_ranks(device.cuda ? gpu_place(device.gpu) : "", world);
  const auto problems = texts_of_ranks(fmt::format("host {}: {}", host_name(), missing(gpus)), world);
  agree(world, [&] { device.shared = check_places(places, problems, options.share_gpus); });
  if (device.cuda) {
    use_gpu(device.gpu);
    // Products are summed in float32, even where the library would use less.
    at::Context& library = at::globalContext();
    library.setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::RNN, at::Float32Precision::IEEE);
    library.setAllowBF16ReductionCuBLAS(false);
  }
  return device;
}

std::unique_ptr<dist::Communicator> make_communicator(const Options& options, const RankDevice& device,
                                                      std::unique_ptr<dist::Communicator> host,
                                                      const std::function<void(const std::string&)>& stuck) {
  auto choice = CommunicatorChoice::mpi;
  agree(*host, [&] { choice = choose_communicator(options.communicator, device); });
  if (!device.cuda) return host;
  const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(device.gpu));
  if (host->size() == 1 && options.communicator == CommunicatorChoice::automatic)
    return dist::make_single_communicator(gpu);
  if (choice == CommunicatorChoice::mpi)
    return dist::make_staged_communicator(std::move(host), dist::cuda_staging(gpu));
  const dist::NcclOptions nccl{.gpu = device.gpu,
                               .timeout = patience_of_rank(options.timeout, host->rank()),
                               .shared_gpus = device.shared,
                               .stuck = stuck};
  return dist::make_nccl_communicator(std::move(host), nccl);
}

}  // namespace ut::launcher
