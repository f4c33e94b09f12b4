#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launcher/options/option_table.h"

namespace ut::launcher::option_groups {

inline constexpr unsigned run_commands = command_train | command_evaluate | command_decode;  // on ranks
inline constexpr unsigned model_commands = command_train | command_bench | command_plan;     // that shape a new model
inline constexpr unsigned rank_commands = run_commands | command_bench;
inline constexpr unsigned model_file_commands = command_export | command_import;
inline constexpr unsigned every_command =
    rank_commands | command_plan | command_doctor | command_data | command_score | model_file_commands | command_report;

/// Collects groups of entries.
class Table {
 public:
  void add(const std::string& group, unsigned commands, bool recorded, std::vector<OptionEntry> added) {
    for (auto& entry : added) {
      entry.group = group;
      // An imported model becomes a run, so import takes every option that training records.
      entry.commands = recorded && (commands & command_train) != 0 ? commands | command_import : commands;
      entry.recorded = recorded;
      entries_.push_back(std::move(entry));
    }
  }
  std::vector<OptionEntry> entries() && { return std::move(entries_); }

 private:
  std::vector<OptionEntry> entries_;
};

// What is learned, and from which files. options_task.cpp
void add_parallel_text(Table& table);
void add_task(Table& table);

// The shape of a model, and the choices in it. options_model.cpp
void add_model_shape(Table& table);
void add_halting(Table& table);
void add_model_choices(Table& table);
void add_dropout(Table& table);
void add_memory(Table& table);

// How a run learns, begins, goes on and ends. options_training.cpp
void add_training(Table& table);
void add_model_files(Table& table);
void add_run(Table& table);

// Scoring, decoding and reports. options_evaluation.cpp
void add_evaluation(Table& table);
void add_score(Table& table);
void add_report(Table& table);

// Processes and what they share. options_ranks.cpp
void add_ranks(Table& table);

// What `ut bench` measures and `ut plan` predicts. options_measuring.cpp
void add_bench(Table& table);
void add_plan(Table& table);

// What `ut data` makes and fetches. options_data.cpp
void add_stories(Table& table);
void add_sentencepiece(Table& table);
void add_fetch(Table& table);

}  // namespace ut::launcher::option_groups
