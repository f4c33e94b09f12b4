#pragma once

#include <poll.h>

#include <string>
#include <string_view>

namespace ut::launcher {

/// Holds what is to be written to a stream that may not be read for a while, so that the writer need not wait.
class OutputQueue {
 public:
  explicit OutputQueue(int stream);
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue();

  /// Adds nothing once writing has failed.
  void add(std::string_view text);
  bool is_empty() const { return waiting_.empty(); }
  /// Whether so much waits that more is better left where it is.
  bool is_full() const;

  /// For poll(): asks whether the stream takes more; about no stream if nothing waits.
  pollfd poll_request() const { return {is_empty() ? -1 : stream_, POLLOUT, 0}; }
  /// Writes as much as the stream takes at once.
  void write_some();
  /// Writes as much as the stream takes within so many seconds.
  void write_within(int seconds);
  /// Drops what waits. `failure`: the errno that failure() returns from now on.
  void give_up(int failure);
  /// The errno of a write that failed, or 0.
  int failure() const { return failure_; }

 private:
  int reopened_;  // the stream opened anew; -1: none
  int stream_;    // reopened_, or the stream that others write to as well
  std::string waiting_;
  int failure_ = 0;
};

}  // namespace ut::launcher
