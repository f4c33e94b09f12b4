#pragma once

#include <cstdint>
#include <string>

namespace ut::core {

/// universal: the Universal Transformer. lstm: the baseline, long short-term memory with attention (core/lstm.h).
enum class ModelKind { universal, lstm };
/// encoder_decoder: as in the papers. encoder: for tasks whose answer is one class, read at the first row (bAbI), or a
/// word among the rows. decoder: for language models; it has no source and no attention over one.
enum class Architecture { encoder_decoder, encoder, decoder };
/// post: LN(x + f(x)), the papers' equations 4 and 5. pre: x + f(LN(x)), and one LN at the end.
enum class Norm { post, pre };
/// signal_out: A = LN(H + MHSA(H + P)). signal_in: x = H + P, A = LN(x + MHSA(x)): the signal stays in the state.
enum class Residual { signal_out, signal_in };
/// interleaved: sine and cosine alternate, exponent 2j/d, positions and steps from 1 (equations 6 and 7).
/// halves: sines then cosines, exponent i/(d/2-1), positions and steps from 0.
enum class Signal { interleaved, halves };
/// sinusoid: the same function as for positions. learned: one table row per step, times sqrt(d).
enum class StepSignal { sinusoid, learned };
enum class TransitionKind { feed_forward, separable_convolution };
enum class Precision { float32, float64 };

/// What the backward pass computes again, so that it is not kept from the forward pass. none: nothing, except that
/// attention over rows never keeps its weights. attention: all attention weights, also where they would otherwise be
/// kept. step: everything but the states between steps.
enum class Recompute { none, attention, step };

/// none: T steps. act: adaptive computation time (ACT) as in the papers' Appendix B: the state of every position goes
/// on evolving, and the output is a weighted mean of its states. act_copy: as in the papers' text: once a position
/// halts, its state becomes that mean, is copied from step to step and costs no more work.
enum class Halting { none, act, act_copy };
/// The halting probability. basic: each position has its own. global: the mean over the positions of a sequence, so
/// that they halt together. random: noise.
enum class ActKind { basic, global, random };
/// accumulated: sum of weight * state (Graves). interpolated: y = w x + (1 - w) y, the listing of Appendix B.
enum class ActOutput { accumulated, interpolated };

struct HaltingOptions {
  Halting encoder = Halting::none;
  Halting decoder = Halting::none;
  ActKind kind = ActKind::basic;
  ActOutput output = ActOutput::accumulated;
  double threshold = 0.99;  // 1 - epsilon
  double bias = -3;         // initial bias of the halting unit
  double balance = 0;       // running rows move between ranks when one has more than this times the mean; 0: never

  bool any() const { return encoder != Halting::none || decoder != Halting::none; }
};

/// A model's shape, and the choices in which the papers and the authors' code differ.
struct ModelOptions {
  ModelKind kind = ModelKind::universal;
  Architecture architecture = Architecture::encoder_decoder;
  std::int64_t d_model = 128;
  std::int64_t heads = 4;
  std::int64_t ffn = 512;
  std::int64_t encoder_steps = 4;  // T; with halting, the most steps of a position
  std::int64_t decoder_steps = 4;
  std::int64_t block_layers = 1;  // layers inside the tied block
  std::int64_t lstm_layers = 2;   // layers of an LSTM's encoder, and of its decoder
  Norm norm = Norm::post;
  Residual residual = Residual::signal_out;
  Signal signal = Signal::interleaved;
  StepSignal step_signal = StepSignal::sinusoid;
  TransitionKind transition = TransitionKind::feed_forward;
  HaltingOptions halting;
  double residual_dropout = 0.1;    // on each sub-layer's output
  double attention_dropout = 0.1;   // on attention weights
  double transition_dropout = 0.1;  // inside the transition
  double input_dropout = 0.1;       // on the stack's input
  std::int64_t vocabulary = 0;      // symbols in the one table that inputs, targets and softmax share
  bool points = false;              // for Architecture::encoder: the answer is a word among the rows (core/pointing.h)
  std::int64_t words_per_row = 1;   // if more than 1, a row is a sum of words, each times a learned mask for its place
  Precision precision = Precision::float32;
  bool bfloat16_products = false;  // multiply matrices in bfloat16; needs Precision::float32
  Recompute recompute = Recompute::none;

  bool has_encoder() const { return architecture != Architecture::decoder; }
  bool has_decoder() const { return architecture != Architecture::encoder; }
};

enum class ScheduleKind { inverse_square_root, constant, cosine };

/// The learning rate over updates.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::inverse_square_root;
  double learning_rate = 2.0;  // inverse_square_root: a constant factor; constant and cosine: the rate after warm-up
  std::int64_t warmup = 8000;  // updates
};

enum class DecayedParameters { all, matrices };

/// Adam as the authors used it, plus decoupled weight decay.
struct OptimizerOptions {
  ScheduleOptions schedule;
  double beta1 = 0.9;
  double beta2 = 0.997;
  double epsilon = 1e-9;
  double weight_decay = 0.0;
  DecayedParameters decayed = DecayedParameters::all;  // matrices: biases and scales of norms do not decay
  double clip_norm = 0.0;                              // largest global norm of the gradient; 0: no clipping
};

}  // namespace ut::core
