// Compares the model with the authors' numbers: golden --cases DIR

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "tests/golden/hyperparameters.h"
#include "tests/golden/kinds.h"

namespace ut::golden {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

using CompareKind = void (*)(const Case&, core::Precision, Comparison&);

CompareKind function_for(const std::string& kind) {
  constexpr std::array<std::pair<std::string_view, CompareKind>, 6> functions{{{"timing", compare_timing},
                                                                               {"lr", compare_learning_rates},
                                                                               {"encoder_stack", compare_encoder_stack},
                                                                               {"decoder_stack", compare_decoder_stack},
                                                                               {"full_model", compare_full_model},
                                                                               {"train", compare_training}}};
  for (const auto& [name, function] : functions)
    if (kind == name) return function;
  throw NotSupported(fmt::format("kind {}", kind));
}

/// Compares one case in both precisions and prints the result. Throws if the case cannot be compared.
bool run_case(const fs::path& path) {
  const Case golden(path);
  const CompareKind compare = function_for(golden.kind());
  check_supported(golden.hparams());
  Comparison comparison(golden);
  for (const auto& [precision, name] :
       {std::pair{core::Precision::float32, "float32"}, std::pair{core::Precision::float64, "float64"}}) {
    comparison.compute_in(name);
    compare(golden, precision, comparison);
  }
  if (comparison.is_empty()) throw NotSupported("nothing in it is known");
  if (comparison.failure()) {
    fmt::print("FAIL {}: {}\n", path.stem().string(), *comparison.failure());
    return false;
  }
  const auto unused = golden.unused("");
  fmt::print("ok {}: {}{}\n", path.stem().string(), comparison.summary(),
             unused.empty() ? "" : fmt::format("; not compared: {}", fmt::join(unused, ", ")));
  return true;
}

/// An error's first line; in LibTorch's errors a stack trace follows.
std::string_view first_line(std::string_view message) { return message.substr(0, message.find('\n')); }

void count_case(const fs::path& path, Counts& counts) {
  try {
    ++(run_case(path) ? counts.passed : counts.failed);
  } catch (const NotSupported& reason) {
    fmt::print("not supported yet {}: {}\n", path.stem().string(), reason.what());
    ++counts.skipped;
  } catch (const std::exception& error) {
    fmt::print("FAIL {}: {}\n", path.stem().string(), first_line(error.what()));
    ++counts.failed;
  }
  std::fflush(stdout);  // so that the result is seen even if the next case ends the process
}

int run_all(const fs::path& directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Counts counts;
  for (const auto& path : paths) count_case(path, counts);
  fmt::print("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed > 0 || counts.passed == 0 ? 1 : 0;
}

int main_of(std::span<char*> arguments) {
  if (arguments.size() != 3 || std::string_view(arguments[1]) != "--cases") {
    fmt::print(stderr, "golden: give a folder of *.safetensors cases: golden --cases DIR\n");
    return 2;
  }
  const fs::path directory = arguments[2];
  try {
    return run_all(directory);
  } catch (const fs::filesystem_error& error) {
    fmt::print(stderr, "golden: --cases {}: {}; give a folder that can be read\n", directory.string(),
               error.code().message());
    return 2;
  }
}

}  // namespace
}  // namespace ut::golden

int main(int argc, char** argv) { return ut::golden::main_of({argv, static_cast<std::size_t>(argc)}); }
