#include "launcher/options/picture_names.h"

namespace ut::launcher {

const std::vector<std::string>& picture_names() {
  static const std::vector<std::string> names{"loss",
                                              "score",
                                              "perplexity",
                                              "bleu",
                                              "learning-rate",
                                              "gradient-norm",
                                              "rows-per-second",
                                              "ponder",
                                              "ponder-histogram",
                                              "running",
                                              "ponder-words",
                                              "attention",
                                              "attention-decoder",
                                              "attention-source",
                                              "steps",
                                              "scaling"};
  return names;
}

bool shows_model(const std::string& picture) { return picture == "ponder-words" || picture.starts_with("attention"); }

}  // namespace ut::launcher
