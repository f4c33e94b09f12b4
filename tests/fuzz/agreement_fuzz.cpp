// One part: sentences up to a verb (numpred.*), also tried as the table of dependencies. Two parts: whole sentences,
// and their verbs.

#include "datasets/dependencies.h"
#include "datasets/task_options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/task.h"

namespace {

using namespace ut;

void try_files(const tests::TemporaryDirectory& directory) {
  datasets::TaskOptions options;
  options.task = "agreement";
  options.data = directory.path().string();
  for (const auto form : {datasets::AgreementForm::number_prediction, datasets::AgreementForm::language_model}) {
    options.agreement_form = form;
    tests::try_task(options);
  }
}

void try_prefixes(const std::string& content) {
  static const tests::TemporaryDirectory directory;
  for (const std::string file : {"val", "test.0", "test.5"}) tests::overwrite(directory, "numpred." + file, content);
  try_files(directory);
}

void try_table(const std::string& content) {
  static const tests::TemporaryDirectory directory;
  tests::overwrite(directory, datasets::dependencies_table, content);
  try_files(directory);
}

void try_sentences(const std::string& sentences, const std::string& verbs) {
  static const tests::TemporaryDirectory directory;
  tests::overwrite(directory, "subj_agr_filtered.text", sentences);
  tests::overwrite(directory, "subj_agr_filtered.gold", verbs);
  datasets::TaskOptions options;
  options.task = "agreement";
  options.data = directory.path().string();
  options.agreement_form = datasets::AgreementForm::language_model;
  tests::try_task(options);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> parts = tests::parts_of(data, size, 2);
  if (parts[1].empty()) {
    try_prefixes(parts[0]);
    try_table(parts[0]);
  } else {
    try_sentences(parts[0], parts[1]);
  }
  return 0;
}
