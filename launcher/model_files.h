#pragma once

#include <filesystem>

#include "launcher/options/options.h"

namespace ut::launcher {

// A model as a directory that other programs read:
//   config.json         "model": what the task and the run say of it; "options": those of `ut train`, by name, of which
//                       ut import makes the model that the first has to be of
//   vocabulary.txt      a symbol a line; symbol n, from 0, is row n of the table
//   model.safetensors   the parameters, multiplied from the right (x W), of the type that --dtype says
//   examples.safetensors, with --examples: source [rows, words] int64, -1 where a row has fewer words; source_offsets
//                       [examples + 1]; with a decoder target [rows] and target_offsets; logits, of each target row, or
//                       of each example. Position 0 is a sequence's first row
// The parameters' names and shapes are in the README, "Models in and out".

/// `ut export`: writes such a directory, whole or not at all. Returns the program's exit code. Throws base::BadInput
/// where there is no such model or the directory is there already.
int run_export(const Options& options);

/// `ut import`: makes a run directory whose one checkpoint, of update 0, is that model. Throws base::BadInput where
/// file, symbols or a tensor's name, shape or type are not what options and task make; nothing is written then.
int run_import(const Options& options);

}  // namespace ut::launcher
