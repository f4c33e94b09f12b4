#include "launcher/run/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/crc.hpp>
#include <charconv>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "records are little-endian");

constexpr std::string_view event_file_prefix = "events.out.tfevents.";

template <typename Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string masked_checksum(const std::string& data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> checksum;  // CRC-32C
  checksum.process_bytes(data.data(), data.size());
  return bytes_of(std::rotr(static_cast<std::uint32_t>(checksum.checksum()), 15) + 0xA282EAD8U);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// TensorBoard reads files in the order of their names, which have a time in them. The new file's time is later than
/// any there, whatever clocks say.
std::int64_t time_of_new_file(const fs::path& directory) {
  auto time = static_cast<std::int64_t>(seconds_now());
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    std::int64_t other = 0;
    if (!name.starts_with(event_file_prefix)) continue;
    if (std::from_chars(name.data() + event_file_prefix.size(), name.data() + name.size(), other).ec == std::errc())
      time = std::max(time, other + 1);
  }
  return time;
}

/// Makes the directory. Returns the path of a new file in it.
fs::path new_file_in(const fs::path& directory) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  if (failure)
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", directory.string(), failure.message()));
  return directory / fmt::format("{}{:010d}.ut", event_file_prefix, time_of_new_file(directory));
}

/// A protobuf message, field by field. LibTorch brings headers of a protobuf of its own, which are found in place of
/// the library's. The little that is needed of the format takes less than keeping the two apart.
class Message {
 public:
  /// int64 or an enumeration, not negative.
  Message& whole(std::uint32_t field, std::int64_t number) {
    start(field, 0);
    put_varint(static_cast<std::uint64_t>(number));
    return *this;
  }
  Message& real(std::uint32_t field, double number) {
    start(field, 1);
    bytes_ += bytes_of(number);
    return *this;
  }
  Message& real32(std::uint32_t field, double number) {
    start(field, 5);
    bytes_ += bytes_of(static_cast<float>(number));
    return *this;
  }
  /// Text, or a message.
  Message& bytes(std::uint32_t field, const std::string& content) {
    start(field, 2);
    put_varint(content.size());
    bytes_ += content;
    return *this;
  }
  const std::string& content() const { return bytes_; }

 private:
  void start(std::uint32_t field, std::uint32_t wire_type) { put_varint(std::uint64_t{field} << 3 | wire_type); }
  void put_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

/// tensorflow.Event: wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7.
Message event_at(std::int64_t step) { return Message().real(1, seconds_now()).whole(2, step); }

/// tensorflow.HistogramProto of how often 1, 2, … occurred: min = 1, max = 2, num = 3, sum = 4, sum_squares = 5,
/// bucket_limit (upper ends) = 6, bucket = 7.
std::string histogram_of(const std::vector<std::int64_t>& counts) {
  double least = 0;
  double value = 0;
  std::array<double, 3> moments{};     // number, sum, sum of squares
  std::string limits = bytes_of(0.5);  // where the bucket of 1 begins
  std::string buckets = bytes_of(0.0);
  double most = 0;
  for (const std::int64_t count : counts) {
    ++value;
    const auto times = static_cast<double>(count);
    limits += bytes_of(value + 0.5);
    buckets += bytes_of(times);
    if (count == 0) continue;
    if (least == 0) least = value;
    most = value;
    moments = {moments[0] + times, moments[1] + times * value, moments[2] + times * value * value};
  }
  return Message()
      .real(1, least)
      .real(2, most)
      .real(3, moments[0])
      .real(4, moments[1])
      .real(5, moments[2])
      .bytes(6, limits)
      .bytes(7, buckets)
      .content();
}

/// Adds what TensorBoard shows of a record, and of each group in it. `begin`: what the tags begin with.
void add(const nlohmann::ordered_json& record, const std::string& begin, StepSummary& summary) {
  for (const auto& [key, value] : record.items())
    if (value.is_number() && key != "update") summary.scalars[begin + key] = value.get<double>();
  if (record.contains("ponder"))
    for (const auto& [stack, counts] : record["ponder"].items()) {
      summary.scalars[begin + "ponder/" + stack] = counts.at("mean").get<double>();
      summary.scalars[begin + "ponder_sd/" + stack] = counts.at("sd").get<double>();
      summary.histograms[begin + "ponder/" + stack] = counts.at("histogram").get<std::vector<std::int64_t>>();
    }
  if (record.contains("groups"))
    for (const auto& [name, of_group] : record["groups"].items()) add(of_group, begin + name + "/", summary);
}

/// tensorflow.Summary with one value = 1, whose tag = 1.
std::string summary_of_value(const std::string& tag, Message value) {
  return Message().bytes(1, value.bytes(1, tag).content()).content();
}

}  // namespace

std::string event_record(const std::string& data) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(data.size()));
  return length + masked_checksum(length) + data + masked_checksum(data);
}

StepSummary summary_of(const nlohmann::ordered_json& record) {
  StepSummary summary;
  add(record, record.contains("split") ? record["split"].get<std::string>() + "/" : "", summary);
  return summary;
}

EventFile::EventFile(const fs::path& directory, std::int64_t first_step) : file_(new_file_in(directory)) {
  const std::string start_of_session = Message().whole(1, 1).content();  // tensorflow.SessionLog: status = 1
  file_.append(event_record(event_at(0).bytes(3, "brain.Event:2").content()) +
               event_record(event_at(first_step).bytes(7, start_of_session).content()));
}

void EventFile::add(std::int64_t step, const StepSummary& summary) {
  // Messages with one value each, one after the other, are one message with all the values.
  std::string values;
  for (const auto& [tag, number] : summary.scalars) values += summary_of_value(tag, Message().real32(2, number));
  for (const auto& [tag, counts] : summary.histograms)
    values += summary_of_value(tag, Message().bytes(5, histogram_of(counts)));
  file_.append(event_record(event_at(step).bytes(5, values).content()));
}

}  // namespace ut::launcher
