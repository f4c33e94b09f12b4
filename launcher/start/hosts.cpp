#include "launcher/start/hosts.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"

namespace ut::launcher {
namespace {

/// Throws base::BadInput, one line, unless `text` is `slots=N`.
std::int64_t read_slots(const std::string& text, const std::string& where) {
  constexpr std::string_view prefix = "slots=";
  constexpr std::int64_t most = 1 << 20;  // MPI counts ranks in 32 bits, and lines add up
  const std::string_view number = text.starts_with(prefix) ? std::string_view(text).substr(prefix.size()) : "";
  const std::int64_t slots = base::parse_number<std::int64_t>(number).value_or(0);
  if (slots < 1 || slots > most)
    throw base::BadInput("{}: \"{}\" after the host, needs slots=N (ranks on this host, 1 to {})", where, text, most);
  return slots;
}

/// mpirun takes the hosts as one list, separated by commas and colons, and gives their names to ssh.
void check_name(const std::string& host, const std::string& where) {
  const auto is_of_names = [](char sign) {
    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') || (sign >= '0' && sign <= '9') ||
           sign == '.' || sign == '-' || sign == '_';
  };
  if (host.starts_with('-') || !std::ranges::all_of(host, is_of_names))
    throw base::BadInput("{}: \"{}\" is no host, needs a name or address of letters, digits, dots and hyphens", where,
                         host);
}

void check_address(const std::string& host, const std::string& where) {
  addrinfo* addresses = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, nullptr, &addresses);
  if (failure != 0)
    throw base::BadInput("{}: no address of host \"{}\" ({}), needs a name that this machine can look up", where, host,
                         ::gai_strerror(failure));
  ::freeaddrinfo(addresses);
}

}  // namespace

std::vector<Host> parse_hosts(const std::string& content, const std::string& name, const CheckHost& check) {
  std::vector<Host> hosts;
  std::unordered_map<std::string, std::size_t> places;
  std::istringstream text(content);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const auto where = fmt::format("--hostfile {} line {}", name, number);
    std::istringstream words(line.substr(0, line.find('#')));
    Host host;
    if (!(words >> host.name)) continue;
    check_name(host.name, where);
    for (std::string word; words >> word;) host.slots = read_slots(word, where);
    const auto [known, is_new] = places.emplace(host.name, hosts.size());
    if (!is_new) {
      hosts[known->second].slots += host.slots;
      continue;
    }
    check(host.name, where);
    hosts.push_back(host);
  }
  if (hosts.empty()) throw base::BadInput("--hostfile {}: no host in it, needs a line HOST slots=N for each", name);
  return hosts;
}

std::vector<Host> read_host_file(const std::filesystem::path& path) {
  constexpr const char* needed = "a file with a line HOST slots=N for each host, or none for this machine";
  return parse_hosts(base::read_file(path, "--hostfile", needed), path.string(), check_address);
}

std::int64_t slots_of(const std::vector<Host>& hosts) {
  std::int64_t slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return slots;
}

}  // namespace ut::launcher
