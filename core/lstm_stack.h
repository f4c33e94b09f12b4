#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/kernels/dropout.h"
#include "core/options.h"
#include "core/parameters.h"
#include "dist/rows.h"

namespace ut::core {

/// What each layer of a stack keeps from position to position.
struct LstmState {
  std::vector<at::Tensor> hidden;  // of each layer [sequences, d]
  std::vector<at::Tensor> cell;    // of each layer [sequences, d]

  /// The state of only the sequences with these numbers [n] int64, in this order.
  LstmState select(const at::Tensor& sequences) const;
};

/// Layers of long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates), one above the other, which
/// read sequences from the first position to the last.
class LstmStack {
 public:
  LstmStack(Parameters& parameters, const std::string& name, const ModelOptions& options);

  struct Read {
    at::Tensor outputs;  // [rows, d]: of the top layer
    LstmState end;       // after each sequence's last position
  };
  /// Reads `input` [rows, d]. `rows`: whole sequences, none of them empty. `start`: the state to begin with; zeros if
  /// it is empty. Dropout is on the input and on each layer's outputs.
  Read read(const at::Tensor& input, const dist::Rows& rows, const LstmState& start, const DropoutKey& dropout) const;

  /// The state of this many sequences before anything has been read: zeros.
  LstmState blank(std::int64_t sequences) const;
  /// Reads one more position of each sequence: `input` [sequences, d] -> outputs of the top layer [sequences, d].
  /// Updates `state`. Without dropout.
  at::Tensor step(const at::Tensor& input, LstmState& state) const;

 private:
  struct Layer {
    at::Tensor input_weights;   // [4d, d]: of input gate, forget gate, cell and output gate, one after the other
    at::Tensor hidden_weights;  // [4d, d]
    at::Tensor bias;            // [4d]
  };

  ModelOptions options_;
  std::vector<Layer> layers_;
  at::Tensor forget_bias_;  // [4d]: 1 for the forget gate, so that untrained cells remember; not learned
};

}  // namespace ut::core
