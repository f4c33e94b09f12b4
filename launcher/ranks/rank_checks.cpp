#include "launcher/ranks/rank_checks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "launcher/options/option_table.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/ranks/shared_values.h"
#include "launcher/run/examples_digest.h"

namespace ut::launcher {
namespace {

/// All tensors that every rank keeps for itself, by name.
std::vector<core::Parameter> kept_by_every_rank(const core::Model& model, const core::Adam& optimizer) {
  const auto& parameters = model.parameters().all();
  std::vector<core::Parameter> all = parameters;
  for (auto& [name, moment] : core::views_of(optimizer.first_moment(), parameters))
    all.push_back({"first moment of " + name, moment});
  for (auto& [name, moment] : core::views_of(optimizer.second_moment(), parameters))
    all.push_back({"second moment of " + name, moment});
  return all;
}

/// One line of 32 hexadecimal digits for each tensor.
std::string digests(const std::vector<core::Parameter>& tensors) {
  std::string lines;
  for (const core::Parameter& entry : tensors) {
    const at::Tensor values = entry.tensor.detach().cpu().contiguous();
    lines += base::digest(values.const_data_ptr(), values.nbytes()) + '\n';
  }
  return lines;
}

/// find_odd_rank() for long texts, by their digests; with a rank that has the usual text. Collective.
std::optional<std::pair<OddRank, int>> find_odd_digest(const std::string& mine, dist::Communicator& world) {
  const std::vector<std::string> digests = texts_of_ranks(base::digest(mine.data(), mine.size()), world);
  const auto odd = find_odd_rank(digests);
  if (!odd) return std::nullopt;
  return std::pair(*odd, static_cast<int>(std::ranges::find(digests, odd->usual) - digests.begin()));
}

/// Throws AgreedBadInput on every rank if a rank has another text than most. `sentence` makes the message from that
/// rank and its host. Collective.
void check_same(const std::string& mine, dist::Communicator& world,
                const std::function<std::string(int rank, const std::string& host)>& sentence) {
  if (world.size() == 1) return;
  const auto found = find_odd_digest(mine, world);
  if (!found) return;
  const int rank = found->first.rank;
  throw AgreedBadInput(sentence(rank, text_of_rank(host_name(), rank, world)));
}

std::string digest_of(const datasets::Task& task) {
  std::string digests = task.vocabulary().digest();
  for (const auto split : datasets::all_splits) digests += examples_digest(task, split);
  return digests;
}

/// `--name value` or `no --name`, for each option that must be the same on all ranks.
std::string option_lines(const Options& options) {
  static const std::set<std::string> of_each_rank = {"data",   "sentencepiece", "run-dir", "threads",
                                                     "device", "hostfile",      "quiet"};
  std::string lines;
  for (const OptionEntry& entry : option_table())
    if (const std::string value = entry.get(options); !of_each_rank.contains(entry.name))
      lines += value.empty() ? fmt::format("no --{}\n", entry.name) : fmt::format("--{} {}\n", entry.name, value);
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::optional<OddRank> find_odd_rank(const std::vector<std::string>& texts) {
  std::map<std::string, std::ptrdiff_t> counts;
  for (const std::string& text : texts) ++counts[text];
  const auto usual = std::ranges::max_element(
      texts, {}, [&](const std::string& text) { return counts.at(text); });  // the first of the most frequent
  const auto odd = std::ranges::find_if(texts, [&](const std::string& text) { return text != *usual; });
  if (odd == texts.end()) return std::nullopt;
  const bool is_one_of_two = std::ranges::any_of(
      counts, [&](const auto& other) { return other.first != *usual && other.second == counts.at(*usual); });
  return OddRank{static_cast<int>(odd - texts.begin()), *usual, is_one_of_two};
}

void check_same_on_all_ranks(const core::Model& model, const core::Adam& optimizer, dist::Communicator& world) {
  const std::vector<core::Parameter> tensors = kept_by_every_rank(model, optimizer);
  const std::string mine = digests(tensors);
  const auto found = find_odd_digest(mine, world);
  if (!found) return;
  const auto& [odd, other] = *found;
  const std::string theirs = text_of_rank(mine, odd.rank, world);
  const auto at = std::ranges::mismatch(theirs, text_of_rank(mine, other, world)).in1 - theirs.begin();
  const auto& tensor = tensors[static_cast<std::size_t>(std::count(theirs.begin(), theirs.begin() + at, '\n'))];
  const std::string others = odd.is_one_of_two
                                 ? fmt::format("rank {} on host {}", other, text_of_rank(host_name(), other, world))
                                 : "the other ranks";
  throw FailureOfRank(
      odd.rank, text_of_rank(host_name(), odd.rank, world),
      fmt::format("its {} has other bits than on {} (--check-ranks){}: memory, a processor or a link is at fault, or "
                  "the ranks compute on unlike processors; go on from a checkpoint, without {}",
                  tensor.name, others, odd.is_one_of_two ? ", and which of the two is right is unknown" : "",
                  odd.is_one_of_two ? "these hosts" : "that host"));
}

void check_finite(const core::Model& model, const core::Adam& optimizer, std::int64_t last_checkpoint,
                  dist::Communicator& world) {
  const std::vector<core::Parameter> tensors = kept_by_every_rank(model, optimizer);
  const auto bad = std::ranges::find_if(
      tensors, [](const core::Parameter& entry) { return !entry.tensor.isfinite().all().item<bool>(); });
  const at::Tensor first = numbers_of_ranks(at::full({1}, bad - tensors.begin(), at::kLong), world);
  const auto place = first.min().item<std::int64_t>();
  if (place == std::ssize(tensors)) return;
  const auto rank = static_cast<int>(first.argmin().item<std::int64_t>());
  const std::string last =
      last_checkpoint < 0 ? "" : fmt::format("--resume goes on after update {}, ", last_checkpoint);
  throw FailureOfRank(
      rank, text_of_rank(host_name(), rank, world),
      fmt::format(
          "{} has values that are not finite, so no checkpoint is written; {}a smaller --learning-rate may help",
          tensors[static_cast<std::size_t>(place)].name, last));
}

void check_same_options(const Options& options, dist::Communicator& world) {
  if (world.size() == 1) return;
  const std::string mine = option_lines(options);
  const auto found = find_odd_digest(mine, world);
  if (!found) return;
  const auto& [odd, usual] = *found;
  std::vector<std::string> theirs = lines_of(text_of_rank(mine, odd.rank, world));
  std::vector<std::string> others = lines_of(text_of_rank(mine, usual, world));
  for (auto* lines : {&theirs, &others}) lines->resize(std::max(theirs.size(), others.size()), "nothing more");
  const auto [first, other] = std::ranges::mismatch(theirs, others);
  throw AgreedBadInput(
      "rank {} on host {} was given {}, rank {} {}; give all ranks the same options, settings files and run", odd.rank,
      text_of_rank(host_name(), odd.rank, world), *first, usual, *other);
}

void check_same_data(const datasets::Task& task, dist::Communicator& world) {
  if (world.size() == 1) return;  // the check reads all examples
  check_same(digest_of(task), world, [](int rank, const std::string& host) {
    return fmt::format("--data: rank {} on host {} has other data than the other ranks; give all the same files", rank,
                       host);
  });
}

void check_same_state(const std::string& state, const Options& options, dist::Communicator& world) {
  check_same(state, world, [&options](int rank, const std::string& host) {
    return fmt::format(
        "--run-dir {}: rank {} on host {} sees another checkpoint than the other ranks; needs to be the same directory "
        "on all hosts (if files appear late on some, try again)",
        options.run_dir, rank, host);
  });
}

}  // namespace ut::launcher
