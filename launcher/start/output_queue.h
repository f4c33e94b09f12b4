#pragma once

#include <poll.h>

#include <string>
#include <string_view>

namespace ut::launcher {

/// What is to be written to a stream that may not be read for a while: it waits here, so that who writes need not.
class OutputQueue {
 public:
  explicit OutputQueue(int stream);
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue();

  /// Nothing more once writing has failed.
  void add(std::string_view text);
  bool is_empty() const { return waiting_.empty(); }
  /// Whether more is better left where it is.
  bool is_full() const;

  /// For poll(), to ask whether the stream takes any; of no stream where nothing waits.
  pollfd question() const { return {is_empty() ? -1 : stream_, POLLOUT, 0}; }
  /// As much as the stream takes at once.
  void write_some();
  /// As much as the stream takes within so many seconds.
  void write_within(int seconds);
  /// What waits will not be written.
  void give_up(int failure);
  /// The errno of what could not be written, or 0.
  int failure() const { return failure_; }

 private:
  int own_;     // -1: none
  int stream_;  // that, or the one that others write to as well
  std::string waiting_;
  int failure_ = 0;
};

}  // namespace ut::launcher
