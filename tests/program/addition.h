#pragma once

#include <fmt/format.h>

#include <string>

namespace ut::tests {

/// Arguments of `ut` that train a small model to add, in float64 with dropout. The caller adds --run-dir.
inline std::string addition(int updates, const std::string& evaluation = "--evaluate-every 10 --evaluation-examples 40",
                            const std::string& batch = "--batch 8") {
  return fmt::format(
      "train --task addition --train-length 9 --evaluation-length 9 --d-model 16 --heads 2 --ffn 32 --steps 2 "
      "--dropout 0.2 {} --train-examples 100 --dtype float64 --log-every 1 --checkpoint-every 10 "
      "--schedule constant --learning-rate 0.003 --warmup 5 --max-updates {} {} ",
      batch, updates, evaluation);
}

}  // namespace ut::tests
