#include "core/transition.h"

#include <ATen/ATen.h>

#include "core/kernels/depthwise.h"
#include "core/kernels/relu_dropout.h"
#include "core/products.h"

namespace ut::core {
namespace {

/// One ReLU between two affine maps.
class FeedForward final : public Transition {
 public:
  FeedForward(Parameters& parameters, const std::string& name, const ModelOptions& options)
      : type_(product_type(options)),
        dropout_rate_(options.transition_dropout),
        kernel1_(
            parameters.add_kernel(name + ".kernel1", {options.d_model, options.ffn}, options.d_model, options.ffn)),
        bias1_(parameters.add_constant(name + ".bias1", {options.ffn}, 0)),
        kernel2_(
            parameters.add_kernel(name + ".kernel2", {options.ffn, options.d_model}, options.ffn, options.d_model)),
        bias2_(parameters.add_constant(name + ".bias2", {options.d_model}, 0)) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor&, StepRows& rows, std::size_t,
                     const DropoutKey& key) const override {
    const at::Tensor product = multiply(x, kernel1_, {type_, bias1_.scalar_type()});  // [rows, ffn]
    const at::Tensor hidden =
        relu_dropout(product, bias1_, dropout_rate_, key.with_site(Site::transition_hidden), rows.local());
    return multiply_add(bias2_, hidden, kernel2_, type_);
  }

 private:
  at::ScalarType type_;  // of products
  double dropout_rate_;
  at::Tensor kernel1_;  // [d, ffn]
  at::Tensor bias1_;    // [ffn]
  at::Tensor kernel2_;  // [ffn, d]
  at::Tensor bias2_;    // [d]
};

/// How far a filter of `width` positions looks; if causal, only back.
Reach reach_of(std::int64_t width, bool causal) { return {causal ? width - 1 : width / 2, causal ? 0 : width / 2}; }

/// Two convolutions over neighbouring positions, of width 3 and then 5, with one filter per channel. Each is followed
/// by an affine map of each position; a ReLU comes in between.
class ConvolutionTransition final : public Transition {
 public:
  ConvolutionTransition(Parameters& parameters, const std::string& name, const ModelOptions& options, bool causal)
      : type_(product_type(options)),
        dropout_rate_(options.transition_dropout),
        causal_(causal),
        depthwise1_(parameters.add_kernel(name + ".convolution1.depthwise", {width1, options.d_model}, width1, width1)),
        pointwise1_(parameters.add_kernel(name + ".convolution1.pointwise", {options.d_model, options.ffn},
                                          options.d_model, options.ffn)),
        bias1_(parameters.add_constant(name + ".convolution1.bias", {options.ffn}, 0)),
        depthwise2_(parameters.add_kernel(name + ".convolution2.depthwise", {width2, options.ffn}, width2, width2)),
        pointwise2_(parameters.add_kernel(name + ".convolution2.pointwise", {options.ffn, options.d_model}, options.ffn,
                                          options.d_model)),
        bias2_(parameters.add_constant(name + ".convolution2.bias", {options.d_model}, 0)) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& copied, StepRows& rows, std::size_t layer,
                     const DropoutKey& key) const override {
    const at::Tensor sent = copied.defined() ? at::cat({x, copied}) : x;
    const Windows windows = rows.windows(layer, sent, reach_of(width1, causal_), reach_of(width2, causal_));
    const at::Tensor product =
        multiply(depthwise(windows.first, depthwise1_), pointwise1_, {type_, bias1_.scalar_type()});
    const at::Tensor hidden =  // [inner rows, ffn]
        relu_dropout(product, bias1_, dropout_rate_, key.with_site(Site::transition_hidden), windows.inner);
    return multiply_add(bias2_, depthwise(windows.second(hidden), depthwise2_), pointwise2_, type_);
  }

 private:
  static constexpr std::int64_t width1 = 3;
  static constexpr std::int64_t width2 = 5;

  at::ScalarType type_;  // of products
  double dropout_rate_;
  bool causal_;
  at::Tensor depthwise1_;  // [3, d]
  at::Tensor pointwise1_;  // [d, ffn]
  at::Tensor bias1_;       // [ffn]
  at::Tensor depthwise2_;  // [5, ffn]
  at::Tensor pointwise2_;  // [ffn, d]
  at::Tensor bias2_;       // [d]
};

}  // namespace

std::unique_ptr<Transition> make_transition(Parameters& parameters, const std::string& name,
                                            const ModelOptions& options, bool causal) {
  if (options.transition == TransitionKind::separable_convolution)
    return std::make_unique<ConvolutionTransition>(parameters, name, options, causal);
  return std::make_unique<FeedForward>(parameters, name, options);
}

}  // namespace ut::core
