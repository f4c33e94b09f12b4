#include "launcher/hosts.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"
#include "base/file.h"

namespace ut::launcher {
namespace {

/// Throws base::BadInput, one line, unless `text` is `slots=N`.
std::int64_t read_slots(const std::string& text, const std::string& where) {
  constexpr std::string_view prefix = "slots=";
  std::int64_t slots = 0;
  const char* end = text.data() + text.size();
  const bool named = text.starts_with(prefix);
  const auto [stop, error] = std::from_chars(named ? text.data() + prefix.size() : end, end, slots);
  if (!named || error != std::errc{} || stop != end || slots < 1)
    throw base::BadInput(
        fmt::format("{}: \"{}\" after the host, needs slots=N (ranks on this host, at least 1)", where, text));
  return slots;
}

void check_address(const std::string& host, const std::string& where) {
  addrinfo* addresses = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, nullptr, &addresses);
  if (failure != 0)
    throw base::BadInput(fmt::format("{}: no address of host \"{}\" ({}), needs a name that this machine can look up",
                                     where, host, ::gai_strerror(failure)));
  ::freeaddrinfo(addresses);
}

}  // namespace

std::vector<Host> read_host_file(const std::filesystem::path& path) {
  std::vector<Host> hosts;
  std::istringstream text(base::read_file(path));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const auto where = fmt::format("--hostfile {} line {}", path.string(), number);
    std::istringstream words(line.substr(0, line.find('#')));
    Host host;
    if (!(words >> host.name)) continue;
    for (std::string word; words >> word;) host.slots = read_slots(word, where);
    const auto known = std::ranges::find(hosts, host.name, &Host::name);
    if (known != hosts.end()) {
      known->slots += host.slots;
      continue;
    }
    check_address(host.name, where);
    hosts.push_back(host);
  }
  if (hosts.empty())
    throw base::BadInput(
        fmt::format("--hostfile {}: no host in it, needs a line HOST slots=N for each", path.string()));
  return hosts;
}

std::int64_t slots_of(const std::vector<Host>& hosts) {
  std::int64_t slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return slots;
}

}  // namespace ut::launcher
