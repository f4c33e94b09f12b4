#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ut::core {

/// In which row of the keys and values that are attended to each key stands.
class KeyRows {
 public:
  /// Each key in the row of its own number.
  KeyRows() = default;
  /// `rows` [keys]: each key's row. If they are in order after all, nothing is kept.
  KeyRows(std::vector<std::int64_t> rows) : rows_(std::move(rows)) {
    std::int64_t key = 0;
    while (key < std::ssize(rows_) && rows_[static_cast<std::size_t>(key)] == key) ++key;
    if (key == std::ssize(rows_)) rows_.clear();
  }

  bool in_order() const { return rows_.empty(); }
  std::int64_t of(std::int64_t key) const { return in_order() ? key : rows_[static_cast<std::size_t>(key)]; }
  /// [keys]; empty: in order.
  const std::vector<std::int64_t>& numbers() const { return rows_; }

 private:
  std::vector<std::int64_t> rows_;
};

}  // namespace ut::core
