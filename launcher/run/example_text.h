#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/task.h"

namespace ut::launcher {

/// The symbols' names; `instead_of_none` for an id below 0.
std::vector<std::string> symbols_of(const std::vector<std::int64_t>& ids, const datasets::Task& task,
                                    const std::string& instead_of_none);

/// The source's rows, each its words with spaces between them.
std::vector<std::string> source_texts(const datasets::Example& example, const datasets::Task& task);

/// Labels, or what was said in their place: symbols' names or, if answers point at words, the words pointed at.
std::vector<std::string> label_texts(std::vector<std::int64_t> labels, const datasets::Example& example,
                                     const datasets::Task& task);

}  // namespace ut::launcher
