#include "launcher/options/option_table.h"

#include <utility>

#include "launcher/options/option_groups.h"

namespace ut::launcher {
namespace {

std::vector<OptionEntry> make_table() {
  option_groups::Table table;
  option_groups::add_task(table);
  option_groups::add_parallel_text(table);
  option_groups::add_model_shape(table);
  option_groups::add_model_choices(table);
  option_groups::add_halting(table);
  option_groups::add_dropout(table);
  option_groups::add_training(table);
  option_groups::add_evaluation(table);
  option_groups::add_bench(table);
  option_groups::add_plan(table);
  option_groups::add_ranks(table);
  option_groups::add_memory(table);
  option_groups::add_stories(table);
  option_groups::add_sentencepiece(table);
  option_groups::add_fetch(table);
  option_groups::add_score(table);
  option_groups::add_model_files(table);
  option_groups::add_report(table);
  option_groups::add_run(table);
  return std::move(table).entries();
}

}  // namespace

const std::vector<OptionEntry>& option_table() {
  static const std::vector<OptionEntry> table = make_table();
  return table;
}

const OptionEntry* find_option(const std::string& name, unsigned command) {
  for (const auto& entry : option_table())
    if (entry.name == name && entry.belongs_to(command)) return &entry;
  return nullptr;
}

}  // namespace ut::launcher
