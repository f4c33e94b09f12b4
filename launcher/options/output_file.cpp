#include "launcher/options/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"

namespace ut::launcher {
namespace {

/// Whether the file, if there is one, begins with `text` as far as the file goes.
bool begins_with_some_of(const std::string& file, std::string_view text) {
  std::ifstream stream(file, std::ios::binary);
  for (const char expected : text)
    if (const int letter = stream.get(); letter != std::char_traits<char>::to_int_type(expected))
      return letter == std::char_traits<char>::eof();
  return true;
}

}  // namespace

void check_output_file(const char* option, const std::string& file, std::string_view begins) {
  if (file.empty()) return;
  std::error_code error;
  const auto directory = std::filesystem::absolute(file).parent_path();
  std::string problem;
  const auto cannot_be = [&error](const std::filesystem::path& path) {  // for example, its name is too long
    return !std::filesystem::exists(path, error) && error;
  };
  if (cannot_be(file) || cannot_be(base::unfinished_beside(file)))
    problem = fmt::format("cannot be written: {}", error.message());
  else if (std::filesystem::is_directory(file, error))
    problem = "is a directory, a file is needed";
  else if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error))
    problem = "is no regular file, one is needed";
  else if (!std::filesystem::is_directory(directory, error))
    problem = fmt::format("there is no directory {}", directory.string());
  else if (::access(directory.c_str(), W_OK) != 0)
    problem = fmt::format("{} cannot be written to", directory.string());
  else if (!begins_with_some_of(file, begins))
    problem = "is there and holds something else, which would be lost; give another name, or remove it";
  if (!problem.empty()) throw base::BadInput("{} {}: {}", option, file, problem);
}

}  // namespace ut::launcher
