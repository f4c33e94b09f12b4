#pragma once

#include "core/options.h"
#include "tests/golden/case.h"

namespace ut::golden {

/// Throws NotSupported, with the hyper-parameter's name, if one asks for what the model under test does not have yet.
void check_supported(const nlohmann::json& hparams);

/// The model that a case's hyper-parameters describe, without dropout. The vocabulary is that of the shared table, if
/// the case has one.
core::ModelOptions model_options(const Case& golden, core::Precision precision);

}  // namespace ut::golden
