#pragma once

namespace ut::launcher {

/// How often core/ reads or writes each number of a tensor, forward and backward together, apart from the matrix
/// products. Each comment names the code, the tensor and the work counted. When that code changes, the counts must
/// change too.
namespace uses {

inline constexpr double signals = 9;            // Recurrence: of the states, signals added, gradients over steps
inline constexpr double halting = 9;            // halting.cpp: of the states, what the unit adds, the mean of states
inline constexpr double leaving_rows = 16;      // recurrence.cpp, running_rows.cpp: of the states, staying ones copied
inline constexpr double sums_of_gradients = 3;  // autograd: of the block's parameters, a step's added to those before

// attention.cpp. In place: host_attention.cpp, over rows where they are; otherwise over slots of heads.
inline constexpr double projected_in_place = 8;          // of the states, sums of their gradients
inline constexpr double projected_to_heads = 6 + 4 * 3;  // split; scaling, queries to heads, results back
inline constexpr double gathered = 20;                   // exchanged_attention.cpp: of all rows, put in order
inline constexpr double stored = 14;                     // key_value_store.cpp: of all rows, in, and gradients out
inline constexpr double not_stored = 4;                  // of the states
inline constexpr double keys_in_place = 4;               // of keys: their gradients
inline constexpr double keys_to_heads = 8;               // of keys: to heads and back
inline constexpr double memory_in_place = 6;             // of queries, and of the memory's keys: gradients, summed
inline constexpr double memory_to_heads = 12;            // the same, and to heads and back
inline constexpr double weights_in_place = 4;            // of attention's weights: softmax
inline constexpr double weights = 5;                     // the same
inline constexpr double weights_masked = 8;              // with a mask
inline constexpr double dropped_in_place = 4;            // of the weights: multiplied, made twice
inline constexpr double dropped_weights = 2;             // of the weights, each time they are drawn

inline constexpr double hidden = 7;     // transition.cpp: of the hidden rows, bias and its gradient, ReLU
inline constexpr double outputs = 2;    // of the transition's outputs, bias and its gradient
inline constexpr double windows = 4.5;  // depthwise.cpp: of each row's neighbours, there and back
inline constexpr double dropout = 4;    // add_dropped.cpp, relu_dropout.cpp: of what is dropped from
inline constexpr double residual = 14;  // normalised_sum.cpp: sum, norm, gradients of both branches

inline constexpr double scores = 14;     // loss.cpp: of labels times symbols, softmax, smoothing, their gradients
inline constexpr double embedded = 10;   // model.cpp: of the rows of both stacks
inline constexpr double table = 6;       // of the table of symbols: its gradients
inline constexpr double optimizer = 24;  // optimizer.cpp: of all parameters, moments and gradients

}  // namespace uses

/// How many operations of the library are called, forward and backward together. Each has a fixed cost.
namespace operation_counts {

inline constexpr double signals = 18;              // Recurrence
inline constexpr double halting = 13;              // halting.cpp
inline constexpr double leaving_rows = 50;         // running_rows.cpp
inline constexpr double self_attention = 70;       // with its residual sum and norm
inline constexpr double cross_attention = 75;      // the same
inline constexpr double feed_forward = 25;         // the same
inline constexpr double convolution = 40;          // the same
inline constexpr double dropout = 4;               // of rows
inline constexpr double dropped_weights = 4;       // of attention
inline constexpr double redrawn_weights = 8;       // the same, if they are drawn again in the backward pass
inline constexpr double encoder_gradients = 10;    // one for each parameter of a block, added to those of other steps
inline constexpr double decoder_gradients = 16;    // the same
inline constexpr double embedding_and_loss = 250;  // embedding, symbols' scores, loss: once a micro-batch
inline constexpr double optimizer = 14;

}  // namespace operation_counts

}  // namespace ut::launcher
