#include "launcher/train/training_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "launcher/process/memory_use.h"
#include "launcher/start/terminal_columns.h"

namespace ut::launcher {

TrainingLog::TrainingLog(const Session& session, const RunDirectory* directory, std::int64_t update)
    : session_(session), directory_(directory) {
  if (directory_ == nullptr) return;
  const bool resumes = session.options.resume;
  if (resumes) truncate_after(evaluations_file(session.options.run_dir), update);
  metrics_.emplace(directory_->metrics(), resumes ? update : -1);
  events_.emplace(directory_->events(), update + 1);
  progress_.emplace(std::cout, terminal_columns([](const char* name) { return std::getenv(name); }),
                    session.options.quiet);
}

void TrainingLog::say(const std::string& line) {
  if (progress_) progress_->say(line);
}

void TrainingLog::result(const std::string& line) {
  if (progress_) progress_->result(line);
}

void TrainingLog::note(const nlohmann::ordered_json& record) {
  if (metrics_) metrics_->append(record);
}

void TrainingLog::record(const nlohmann::ordered_json& record) {
  note(record);
  if (events_) events_->add(record.at("update").get<std::int64_t>(), summary_of(record));
}

bool TrainingLog::has_records() const { return std::filesystem::file_size(directory_->metrics()) > 0; }

bool TrainingLog::has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const {
  return metrics_->has_newest(kind, values);
}

void TrainingLog::start() {
  since_record_ = Stopwatch();
  waited_for_ranks_before_ = session_.mesh.waited_seconds();
}

void TrainingLog::pause() {
  since_pause_ = Stopwatch();
  waited_at_pause_ = session_.mesh.waited_seconds();
}

void TrainingLog::go_on() {
  since_record_.leave_out(since_pause_.seconds());
  const dist::WaitedSeconds now = session_.mesh.waited_seconds();
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose)
    waited_for_ranks_before_.at(purpose) += now.at(purpose) - waited_at_pause_.at(purpose);
}

void TrainingLog::take(const ShownUpdate& update, std::int64_t rows, const PonderHistograms& ponder_times) {
  rows_ += rows;
  ponder_times_.add(ponder_times);
  ponder_times_.count_arriving();
  last_ = update;
  last_.rows_per_second = static_cast<double>(rows_) / std::max(1e-9, since_record_.seconds());
  is_behind_ = true;
}

void TrainingLog::record_updates(const core::Steps& steps, double waited, double hours) {
  is_behind_ = false;
  PonderHistograms ponder_times = std::exchange(ponder_times_, {});
  if (session_.options.model.halting.any()) ponder_times.sum_over(session_.mesh.world(), steps);
  if (directory_ == nullptr) return;
  const double seconds = std::max(1e-9, since_record_.seconds());
  const double input_wait = waited - std::exchange(waited_before_, waited);
  const dist::WaitedSeconds for_ranks = session_.mesh.waited_seconds();
  const dist::WaitedSeconds before = std::exchange(waited_for_ranks_before_, for_ranks);
  const auto share_waited = [&](dist::Purpose purpose) {
    const auto which = static_cast<std::size_t>(purpose);
    return (for_ranks.at(which) - before.at(which)) / seconds;
  };
  since_record_ = Stopwatch();
  rows_ = 0;
  nlohmann::ordered_json record{{"update", last_.update},
                                {"loss", last_.loss},
                                {"learning_rate", last_.learning_rate},
                                {"gradient_norm", last_.gradient_norm},
                                {"rows_per_s", last_.rows_per_second},
                                {"input_wait_share", input_wait / seconds},
                                {"exchange_wait_share", share_waited(dist::Purpose::exchange)},
                                {"gradients_wait_share", share_waited(dist::Purpose::gradients)},
                                {"memory_bytes", most_memory()},
                                {"hours", hours}};
  say_if_ranks_wait(seconds * (share_waited(dist::Purpose::exchange) + share_waited(dist::Purpose::gradients)),
                    seconds);
  if (!ponder_times.is_empty()) {
    mean_ponder_ = ponder_times.mean();
    record["ponder"] = to_json(ponder_times);
  }
  this->record(record);
}

void TrainingLog::say_if_ranks_wait(double waited, double seconds) {
  constexpr double worth_a_word = 0.3;
  constexpr double long_enough = 30;                              // seconds; a hiccup is not
  const bool is_first_record = std::exchange(has_record_, true);  // libraries and links are set up in that time
  if (is_first_record || says_waits_) return;
  observed_ += seconds;
  waited_while_observed_ += waited;
  const double share = waited_while_observed_ / observed_;
  if (observed_ < long_enough || !(share >= worth_a_word)) return;  // not a number: nothing is known, as with NCCL
  says_waits_ = true;
  say(
      fmt::format("{:.0f} % of the time is waiting for other ranks (…_wait_share in metrics.jsonl); ut plan says which "
                  "meshes wait less",
                  100 * share));
}

void TrainingLog::show(bool last) {
  last_.ponder = mean_ponder_;
  if (progress_) progress_->report(last_, last);
}

}  // namespace ut::launcher
