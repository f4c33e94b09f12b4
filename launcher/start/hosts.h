#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ut::launcher {

/// A host that ranks are started on, and how many.
struct Host {
  std::string name;
  std::int64_t slots = 1;
};

/// Throws base::BadInput, with `where` in front of its message, unless ranks can be started on the host.
using CheckHost = std::function<void(const std::string& host, const std::string& where)>;

/// The hosts that a host file's text names, each of them checked; `name` is for messages. read_host_file() describes
/// the format, and checks that addresses are found.
std::vector<Host> parse_hosts(const std::string& content, const std::string& name, const CheckHost& check);

/// Reads a host file: a line `HOST slots=N` for each host, in the order in which ranks are placed; `#` begins a
/// comment. Without slots= a host has one. Several lines of a host add up, as batch systems write them. Throws
/// base::BadInput, naming file and line, for anything else and for a host whose address this machine does not find.
std::vector<Host> read_host_file(const std::filesystem::path& path);

/// The slots of all hosts together.
std::int64_t slots_of(const std::vector<Host>& hosts);

}  // namespace ut::launcher
