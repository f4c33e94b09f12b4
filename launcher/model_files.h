#pragma once

#include "launcher/options.h"

namespace ut::launcher {

// A model as a directory that other programs read:
//   config.json         "model": what the task and the run say of it; "options": those of `ut train`, by name
//   vocabulary.txt      a symbol a line; symbol n, from 0, is row n of the table
//   model.safetensors   the parameters, multiplied from the right (x W), of the type that --dtype says
//   examples.safetensors, with --examples: source [rows, words] int64, -1 where a row has fewer words; source_offsets
//                       [examples + 1]; with a decoder target [rows] and target_offsets; logits, of each target row, or
//                       of each example. Position 0 is a sequence's first row
//
// | parameter | shape | |
// |---|---|---|
// | table | symbols, d | embeddings of source and target; the softmax |
// | word_mask | words, d | where rows are sums of words |
// | S.layerN.self_attention.query_key_value | d, 3d | S: encoder or decoder; layer N of the block. Side by side; head h
// has columns h d/heads to (h + 1) d/heads of each | | S.layerN.self_attention.output | d, d | | |
// decoder.layerN.cross_attention.query, .key_value, .output | d, d; d, 2d; d, d | over the encoder's last states | |
// S.layerN.transition.kernel1, .bias1, .kernel2, .bias2 | d, ffn; ffn; ffn, d; d | feed-forward | |
// S.layerN.transition.convolution1.depthwise, .pointwise, .bias | 3, d; d, ffn; ffn | separable convolution | |
// S.layerN.transition.convolution2.depthwise, .pointwise, .bias | 5, ffn; ffn, d; d | | |
// S.layerN.self_attention.norm.scale, .bias; cross_attention, transition likewise | d | layer normalisation, epsilon
// 1e-6 | | S.final_norm.scale, .bias | d | with --norm pre | | S.step_signal | steps, d | with --step-signal learned;
// times sqrt(d) | | S.halting.kernel, .bias | d, 1; 1 | where the stack halts |

/// `ut export`: writes such a directory, whole or not at all. Returns the program's exit code. Throws base::BadInput
/// where there is no such model or the directory is there already.
int run_export(const Options& options);

/// `ut import`: makes a run directory whose one checkpoint, of update 0, is that model. Throws base::BadInput where
/// file, symbols or a tensor's name, shape or type are not what options and task make; nothing is written then.
int run_import(const Options& options);

}  // namespace ut::launcher
