#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model.h"
#include "launcher/cost/forward_products.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// The size of what is trained: its parameters, and means over the first updates.
class TrainingSize {
 public:
  TrainingSize(const core::Model& model, const Session& session);

  /// A line for each thing that a person wants to know before training begins.
  std::vector<std::string> describe() const;
  /// {"parameters", "table_parameters", "threads", "rows", "flops_per_update": [least, most], "flops_per_step": {stack:
  /// number}}
  nlohmann::ordered_json to_json() const;

 private:
  const Session& session_;
  std::int64_t parameters_;
  std::int64_t table_parameters_;
  std::int64_t threads_;      // of this rank
  std::int64_t updates_ = 0;  // number of updates that the three below are means of
  double rows_ = 0;
  double examples_ = 0;  // of a micro-batch
  FlopsRange flops_{};
};

}  // namespace ut::launcher
