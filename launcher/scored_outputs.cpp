#include "launcher/scored_outputs.h"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/shared_values.h"
#include "launcher/run/example_text.h"

namespace ut::launcher {
namespace {

/// The lines of all texts, sorted by the example's number.
std::string in_order(const std::vector<std::string>& texts) {
  std::map<std::int64_t, std::string> by_number;
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto number = base::parse_json(line).at("number").get<std::int64_t>();
      by_number[number] = std::move(line);
    }
  }
  std::string sorted;
  for (const auto& [number, line] : by_number) sorted += line + "\n";
  return sorted;
}

}  // namespace

void ScoredOutputs::add(const ScoredExample& scored) {
  const datasets::Example& example = scored.example;
  nlohmann::ordered_json line{{"number", scored.number}};
  if (task_.has_groups(split_)) line["group"] = task_.groups()[static_cast<std::size_t>(example.group)];
  if (example.source.empty())
    line["given"] = symbols_of({example.target.begin(), example.target.end() - 1}, task_, "");
  else
    line["source"] = source_texts(example, task_);
  line["wanted"] = label_texts(scored.wanted, example, task_);
  line["said"] = label_texts(scored.said, example, task_);
  if (example.rival != datasets::no_answer) line["rival"] = task_.vocabulary().symbol(example.rival);
  line["right"] = scored.right;
  if (scored.loss) line["loss"] = *scored.loss;
  if (task_.is_scored_as_text()) {
    line["wanted_text"] = task_.right_text(split_, scored.number);
    if (scored.is_decoded) line["said_text"] = task_.render(scored.said);
  }
  if (!scored.encoder_updates.empty()) line["encoder_updates"] = scored.encoder_updates;
  if (!scored.decoder_updates.empty()) line["decoder_updates"] = scored.decoder_updates;
  lines_.push_back(base::json_line(line) + "\n");
}

void ScoredOutputs::write(const std::string& file, dist::Communicator& world) const {
  std::string mine;
  for (const std::string& line : lines_) mine += line;
  const std::vector<std::string> all = texts_at_first(mine, world);
  run_on_first_or_refuse(world, [&] { base::write_file_whole(file, in_order(all)); });
}

}  // namespace ut::launcher
