#include "launcher/doctor/findings.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "base/counted.h"
#include "core/kernels/gemm.h"
#include "launcher/plan/probe.h"
#include "launcher/process/build_info.h"
#include "launcher/process/cores.h"
#include "launcher/process/readable.h"
#include "launcher/process/run_program.h"
#include "launcher/ranks/device.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

using dist::Communicator;
using dist::Purpose;
namespace fs = std::filesystem;

/// The line of `ut --version` with this beginning, which is cut off.
std::string build_line(const std::string& beginning) {
  std::istringstream lines(build_info());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(beginning)) return line.substr(beginning.size());
  return "";
}

/// The first version in the text, such as "4.1.4", or nothing.
std::string version_in(const std::string& text) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(R"(\d+\.\d+\.\d+)")) ? match.str() : "";
}

/// [ranks][values]: the values of each rank. Collective.
std::vector<std::vector<std::int64_t>> of_ranks(const std::vector<std::int64_t>& mine, Communicator& world) {
  const auto columns = static_cast<std::int64_t>(mine.size());
  const at::Tensor all = numbers_of_ranks(at::tensor(mine, at::kLong), world);
  const auto* data = all.const_data_ptr<std::int64_t>();
  std::vector<std::vector<std::int64_t>> ranks;
  for (int rank = 0; rank < world.size(); ++rank, data += columns) ranks.emplace_back(data, data + columns);
  return ranks;
}

std::string speeds(const Link& link) {
  const auto speed = [](const RateCurve& rates) {
    return fmt::format("{}/s ({} received)", readable(rates.back().per_second, "B"), readable(rates.back().size, "B"));
  };
  return fmt::format("latency {} a round; all-gather {}; all-reduce {}", readable_seconds(link.latency),
                     speed(link.gather), speed(link.reduce));
}

/// Writes a file of this rank's own and removes it. Returns 0 if that works, otherwise the error number.
int try_writing(const fs::path& directory, int rank) {
  const auto path = directory / fmt::format(".ut-doctor-{}-{}", rank, ::getpid());
  errno = 0;
  std::ofstream file(path);
  file << std::string(1 << 16, 'u');
  file.close();  // a full disk is noticed no earlier
  const int cause = file.good() ? 0 : std::max(errno, 1);
  std::error_code ignored;
  fs::remove(path, ignored);
  return cause;
}

/// The missing directories of the path `directory`, the deepest first.
std::vector<fs::path> missing_directories(fs::path directory) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  const auto is_missing = [&](const fs::path& path) {
    return fs::symlink_status(path, ignored).type() == fs::file_type::not_found;
  };
  for (; !directory.empty() && is_missing(directory); directory = directory.parent_path()) missing.push_back(directory);
  return missing;
}

}  // namespace

Finding find_ranks(const Hosts& hosts) {
  std::vector<std::string> each;
  for (std::size_t host = 0; host < hosts.names.size(); ++host)
    each.push_back(fmt::format("{} {}", hosts.names[host], std::ranges::count(hosts.of_rank, host)));
  constexpr std::size_t most = 16;
  const bool is_long = each.size() > most;
  if (is_long) each.resize(most);
  return {"ranks",
          fmt::format("{} on {}: {}{}", hosts.of_rank.size(), base::counted(std::ssize(hosts.names), "host"),
                      fmt::join(each, ", "), is_long ? ", …" : ""),
          ""};
}

Finding find_mpi() {
  const std::string library = build_line("MPI: ");
  const std::string starter = output_of({"mpirun", "--version"});
  const std::string version = version_in(starter);
  // If Slurm is installed but not set up, srun lists nothing.
  const std::string kinds = output_of({"srun", "--mpi=list"});
  const bool has_srun = kinds.find("none") != std::string::npos;
  const bool has_pmix = kinds.find("pmix") != std::string::npos;
  Finding finding{"MPI", library, ""};
  if (version.empty()) {
    finding.seen += ", no mpirun in PATH";
    if (!has_pmix)
      finding.remedy =
          "install that MPI's mpirun (Debian: apt install openmpi-bin), or start ranks with srun --mpi=pmix";
  } else if (version != version_in(library)) {
    finding.seen += fmt::format(", but mpirun is version {}", version);
    finding.remedy = "put the mpirun of the MPI that this program is linked with first in PATH";
  }
  if (!has_srun) return finding;
  finding.seen += has_pmix ? ", srun with PMIx" : ", srun without PMIx";
  if (!has_pmix && finding.is_well())
    finding.remedy = "start ranks with mpirun inside the allocation, or install Slurm's PMIx plugin";
  return finding;
}

Finding find_products() {
  try {
    return {"products", fmt::format("{}, in float32", core::gemm_library()), ""};
  } catch (const std::runtime_error& failure) {
    return {"products", failure.what(), "every host that ranks run on needs it"};
  }
}

Finding find_accelerators(Communicator& world) {
  const auto devices = of_ranks({gpus_of_host()}, world);
  const std::int64_t here = devices.front().front();
  const std::string cuda = build_line("CUDA: ");
  Finding finding{"GPUs", fmt::format("{} on this host; CUDA: {}; NCCL: {}", here, cuda, build_line("NCCL: ")), ""};
  const VisibleGpus gpus = find_gpus();
  if (here > 0 && !gpus.in_build) {
    finding.remedy = "build with CUDA to use them: ./quickstart build --cuda";
  } else if (here > 0 && gpus.count == 0) {
    finding.seen += fmt::format("; CUDA sees none ({})", gpus.problem);
    finding.remedy = "look at nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  if (std::ranges::any_of(devices, [&](const auto& rank) { return rank.front() != here; })) {
    finding.seen += "; not the same number on every host";
    finding.remedy = "start ranks only on hosts that are alike";
  }
  return finding;
}

Finding find_cores(const Hosts& hosts, Communicator& world) {
  std::vector<std::int64_t> mine = allowed_cores();
  mine.push_back(at::get_num_threads());
  const auto ranks = of_ranks(mine, world);
  const char* variable = std::getenv("OMP_NUM_THREADS");
  Finding finding{
      "cores",
      fmt::format("{} a rank (OMP_NUM_THREADS {}), {} of {} cores allowed", base::counted(mine.back(), "thread"),
                  variable == nullptr ? "not set" : variable, count_cores(allowed_cores()), cores_of_host()),
      ""};
  const std::int64_t with_time = usable_cores();  // of rank 0's host
  if (with_time < count_cores(allowed_cores()))
    finding.seen += fmt::format(", but the container has the CPU time of only {}", with_time);
  for (std::size_t host = 0; host < hosts.names.size() && finding.is_well(); ++host) {
    std::vector<std::int64_t> together(mine.size() - 1, 0);
    std::int64_t threads = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (hosts.of_rank[rank] != host) continue;
      for (std::size_t word = 0; word < together.size(); ++word) together[word] |= ranks[rank][word];
      threads += ranks[rank].back();
    }
    const std::int64_t cores = host == 0 ? std::min(count_cores(together), with_time) : count_cores(together);
    if (threads <= cores) continue;
    finding.seen += fmt::format("; on {}, {} threads share {} cores", hosts.names[host], threads, cores);
    finding.remedy =
        "start fewer ranks or give fewer --threads; if cores stay unused, start the ranks with mpirun --bind-to none "
        "or --map-by slot:PE=N";
  }
  return finding;
}

std::vector<Finding> find_links(const Hosts& hosts, Communicator& world) {
  const auto [host, between] = split_by_host(hosts, world);
  std::vector<Finding> findings;
  if (host->size() > 1) {
    const Link link = probe_link(*host);
    constexpr double slow = 1e-3;
    findings.push_back({"within", speeds(link), ""});
    if (link.latency > slow)
      findings.back().remedy =
          "ranks wait for cores: end other programs here, start fewer ranks, or, if you start mpirun yourself, give it "
          "--mca mpi_yield_when_idle 1";
  }
  if (host->rank() == 0 && between->size() > 1) {
    const Link link = probe_link(*between);
    constexpr double slow = 1e-3;
    constexpr double narrow = 1e8;
    constexpr double narrow_sum = 2.5e7;  // what is summed passes through the ranks one after the other
    findings.push_back({"between", speeds(link), ""});
    if (link.latency > slow || link.gather.back().per_second < narrow || link.reduce.back().per_second < narrow_sum)
      findings.back().remedy =
          "slower than Gigabit Ethernet: end other programs on these hosts, choose the fast network (mpirun --mca "
          "btl_tcp_if_include NAME), check the cable";
  }
  if (world.size() == 1)
    findings.push_back({"links", "not measured with one rank; ut doctor --ranks N measures them", ""});
  return findings;
}

Finding find_directory(const std::string& directory, Communicator& world) {
  if (directory.empty()) return {"directory", "not checked; ut doctor --run-dir DIR checks one", ""};
  const auto missing = world.rank() == 0 ? missing_directories(directory) : std::vector<fs::path>();
  std::error_code make_error;  // on rank 0
  std::error_code ignored;
  const auto token = fs::path(directory) / fmt::format(".ut-doctor-{}", ::getpid());
  if (world.rank() == 0) {
    fs::create_directories(directory, make_error);
    std::ofstream(token) << "ut";
  }
  const std::string name = text_of_rank(token.string(), 0, world);
  const bool sees = fs::exists(name, ignored);
  const int problem = make_error ? make_error.value() : try_writing(directory, world.rank());
  const auto ranks = of_ranks({sees ? 1 : 0, problem}, world);
  if (world.rank() == 0) {
    fs::remove(token, ignored);
    for (const fs::path& made : missing) fs::remove(made, ignored);
  }
  const auto blind = std::ranges::count_if(ranks, [](const auto& rank) { return rank[0] == 0; });
  const auto barred = std::ranges::count_if(ranks, [](const auto& rank) { return rank[1] != 0; });
  const auto full =
      std::ranges::find_if(ranks, [](const auto& rank) { return rank[1] == ENOSPC || rank[1] == EDQUOT; });
  const std::int64_t cause = full == ranks.end() ? ranks.front()[1] : (*full)[1];
  Finding finding{"directory",
                  fmt::format("{}: {} of {} ranks see what rank 0 writes, {} may write", directory,
                              world.size() - blind, world.size(), world.size() - barred),
                  ""};
  if (cause != 0) finding.seen += fmt::format(" ({})", std::strerror(static_cast<int>(cause)));
  if (full != ranks.end())
    finding.remedy = "make room there, or give a directory on another disk";
  else if (cause != 0)
    finding.remedy = "give a directory that you may write to";
  else if (blind + barred > 0)
    finding.remedy = "give a directory on a file system that all hosts share";
  return finding;
}

}  // namespace ut::launcher
