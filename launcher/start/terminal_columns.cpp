#include "launcher/start/terminal_columns.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/parse_number.h"

namespace ut::launcher {

std::int64_t terminal_columns(const Environment& get) {
  if (const char* seen = get(terminal_variable))
    if (const auto columns = base::parse_number<std::int64_t>(seen)) return *columns;
  if (find_rank_environment(get).is_rank || ::isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace ut::launcher
