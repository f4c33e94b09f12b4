#include "datasets/task_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"

namespace ut::datasets {

std::filesystem::path data_directory(const std::string& data, std::string_view files) {
  if (data.empty()) throw base::BadInput("--data is needed: the directory of the {}", files);
  std::error_code code;
  if (!std::filesystem::is_directory(data, code))
    throw base::BadInput(base::path_exists(data)
                             ? fmt::format("--data {}: not a directory; needs the directory of the {}", data, files)
                             : fmt::format("--data {}: no such directory; give that of the {}", data, files));
  return data;
}

void check_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    throw base::BadInput("{} {}: out of range; it is {} to {}", option, value, low, high);
}

}  // namespace ut::datasets
