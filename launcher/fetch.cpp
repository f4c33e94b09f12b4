#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "datasets/published.h"
#include "launcher/commands.h"
#include "launcher/process/run_program.h"
#include "launcher/process/say.h"
#include "launcher/process/unfinished_directory.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

using datasets::Published;

/// An archive of the data set, in its publisher's layout or in ours.
struct Archive {
  std::string place;  // a file in a local folder, or an address
  bool is_ours;
};

/// The archive in the folder `from`, or at the data set's address if `from` is empty. Throws base::BadInput if there is
/// none.
Archive find_archive(const Published& data, const std::string& from) {
  if (from.empty() && data.address.empty())
    throw base::BadInput("ut data fetch {}: has no address to download from; give --from, a folder with {}", data.name,
                         data.mirrored);
  if (from.empty()) return {data.address, false};
  if (!fs::is_directory(from))
    throw base::BadInput("--from {}: {}; needs a folder with {}", from,
                         base::path_exists(from) ? "not a directory" : "no such directory", data.mirrored);
  const std::string published = fs::path(data.address).filename();
  for (const std::string& name : {data.mirrored, published})
    if (!name.empty() && fs::is_regular_file(fs::path(from) / name)) return {from + "/" + name, name == data.mirrored};
  throw base::BadInput("--from {}: has no {}{}", from, data.mirrored, published.empty() ? "" : " and no " + published);
}

/// Where the archive comes from, and its licence.
std::string origin_of(const Published& data, const Archive& archive) {
  const std::string published =
      archive.place == data.address || data.address.empty() ? "" : fmt::format("published at {}\n", data.address);
  return fmt::format("{}: {}\nlicence: {}\n{}", data.name, archive.place, data.licence, published);
}

/// The message for a failed program, with the first line of its error output.
std::string failure(const std::string& program, const ProgramEnd& end) {
  std::string_view message = end.text;
  message = message.substr(0, message.find('\n'));
  if (message.starts_with(program + ": ")) message.remove_prefix(program.size() + 2);
  return fmt::format("{}: failed{}{}", program, end.code < 0 ? "" : fmt::format(" with {}", end.code),
                     message.empty() ? "" : fmt::format(": {}", message));
}

void check_started(const std::string& program, const ProgramEnd& end) {
  if (end.not_started != 0)
    throw base::BadInput("{}: cannot be run: {}; ut data fetch needs this program", program,
                         std::strerror(end.not_started));
}

/// Throws std::runtime_error if the device is full: the program's own message for that depends on the language.
void check_room(const fs::path& directory) {
  std::error_code error;
  constexpr std::uintmax_t little = 1 << 14;
  if (fs::space(directory, error).available < little && !error)
    throw std::runtime_error(fmt::format("{}: no space left on the device", directory.string()));
}

/// Runs a program that writes into the directory, to its end. `output`, if given, is the file for its standard output.
/// Throws base::BadInput if the program is missing or fails, std::runtime_error if the device is full.
void run_needed(const std::vector<std::string>& words, const fs::path& directory, const fs::path& output = {}) {
  const ProgramEnd end = run_silent_program(words, output);
  check_started(words.front(), end);
  if (end.is_well()) return;
  check_room(directory);
  throw base::BadInput(failure(words.front(), end));
}

std::string sha256_of(const fs::path& file, const UnfinishedDirectory& unfinished) {
  const fs::path sum = unfinished / "sum";
  run_needed({"sha256sum", "--binary", "--", file.string()}, sum.parent_path(), sum);
  const std::string line = base::read_file(sum);
  // sha256sum puts a backslash before the sum of a file whose name has odd characters.
  const std::string digits = line.substr(line.starts_with('\\') ? 1 : 0);
  return digits.substr(0, digits.find(' '));
}

/// Returns a message that the archive is the mirrored one. Throws base::BadInput if it is not.
std::string compare_sum(const fs::path& archive, const std::string& expected, const UnfinishedDirectory& unfinished) {
  const std::string sum = sha256_of(archive, unfinished);
  if (sum != expected)
    throw base::BadInput("{}: SHA-256 is {}, but should be {}; the file is another one, or incomplete",
                         archive.string(), sum, expected);
  return fmt::format("SHA-256 {}: as expected\n", sum);
}

/// Compares the unpacked files whose sums are known, and returns a message with their number. A file that the archive
/// lacks is skipped. Throws base::BadInput if a sum differs.
std::string compare_files(const Published& data, const fs::path& directory, const UnfinishedDirectory& unfinished) {
  int compared = 0;
  for (const datasets::PublishedFile& file : datasets::published_files()) {
    if (file.data_set != data.name || !fs::is_regular_file(directory / file.name)) continue;
    const std::string sum = sha256_of(directory / file.name, unfinished);
    if (sum != file.sha256)
      throw base::BadInput(
          "{}, unpacked: SHA-256 of {} is {}, but should be {}; the file differs from the published one", data.name,
          file.name, sum, file.sha256);
    ++compared;
  }
  return compared == 0 ? "" : fmt::format("{} of its files compared: as published\n", compared);
}

/// Downloads with curl. Returns the path of the archive.
fs::path download(const Published& data, bool quiet, const UnfinishedDirectory& unfinished) {
  fs::path archive = unfinished / "archive";
  const ProgramEnd end = run_program({"curl", "--fail", "--location", "--show-error",
                                      quiet ? "--silent" : "--no-silent", "--output", archive.string(), data.address});
  check_started("curl", end);
  if (end.is_well()) return archive;
  check_room(archive.parent_path());
  throw std::runtime_error(
      fmt::format("{}: not fetched: {}; instead, give --from, a folder that has this archive or {}", data.address,
                  failure("curl", end), data.mirrored));
}

std::vector<std::string> files_ending(const char* ending, const fs::path& directory) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file() && entry.path().extension() == ending) found.push_back(entry.path().string());
  return found;
}

void untar(const std::string& archive, const std::string& directory) {
  if (archive.ends_with(".xz"))
    // tar would not say that xz is what it lacks.
    run_needed({"xz", "--version"}, directory, "/dev/null");
  run_needed({"tar", "--extract", "--force-local", "--no-same-owner", "--file", archive, "--directory", directory},
             directory);
}

/// Replaces every archive within the archive, and every file in gzip's format, by what it holds.
void unpack_files(const fs::path& directory) {
  for (const std::string& archive : files_ending(".tar", directory)) {
    untar(archive, fs::path(archive).parent_path().string());
    fs::remove(archive);
  }
  std::vector<std::string> words = {"gzip", "--decompress", "--"};
  const std::vector<std::string> zipped = files_ending(".gz", directory);
  words.insert(words.end(), zipped.begin(), zipped.end());
  if (!zipped.empty()) run_needed(words, directory);
}

/// The directory itself, or its only entry if that is a directory.
fs::path innermost(const fs::path& directory) {
  const fs::directory_iterator first(directory);
  if (first == fs::directory_iterator()) throw base::BadInput("the archive is empty");
  const fs::path only = first->path();
  return std::next(fs::directory_iterator(directory)) == fs::directory_iterator() && fs::is_directory(only) ? only
                                                                                                            : directory;
}

/// The wanted part of a published archive, in the layout of ours. Throws base::BadInput if the archive lacks it.
fs::path laid_out(const Published& data, const fs::path& unpacked, const UnfinishedDirectory& unfinished) {
  fs::path taken =
      data.archive_subdirectory.empty() ? innermost(unpacked) : innermost(unpacked) / data.archive_subdirectory;
  if (!fs::is_directory(taken))
    throw base::BadInput("{}: has no directory {}; the archive differs from the published one", data.address,
                         data.archive_subdirectory);
  if (data.unpacked_path.empty()) return taken;
  fs::path whole = unfinished / "laid-out";
  fs::create_directories((whole / data.unpacked_path).parent_path());
  fs::rename(taken, whole / data.unpacked_path);
  return whole;
}

}  // namespace

int data_fetch(const Options& options) {
  const DataOptions& given = options.data;
  const Published& data = datasets::find_published(given.name);
  const fs::path out = fs::path(given.out.empty() ? data.name : given.out).lexically_normal();
  const fs::path directory = out.has_filename() ? out : out.parent_path();
  if (base::path_exists(directory))
    throw base::BadInput("{}: is there already; remove it, or give another --out", directory.string());
  const auto say = [&options](const std::string& text) {
    if (options.quiet) return;
    print(text);
    std::fflush(stdout);
  };
  const Archive found = find_archive(data, given.from);
  say(origin_of(data, found));

  const UnfinishedDirectory unfinished(directory);
  const fs::path archive = given.from.empty() ? download(data, options.quiet, unfinished) : fs::path(found.place);
  if (found.is_ours) say(compare_sum(archive, data.mirrored_sha256, unfinished));
  const fs::path unpacked = unfinished / "unpacked";
  fs::create_directory(unpacked);
  untar(archive.string(), unpacked.string());
  unpack_files(unpacked);
  const fs::path whole = found.is_ours ? innermost(unpacked) : laid_out(data, unpacked, unfinished);
  say(compare_files(data, whole, unfinished));
  fs::rename(whole, directory);
  say(fmt::format("{}: unpacked\n", directory.string()));
  return 0;
}

}  // namespace ut::launcher
