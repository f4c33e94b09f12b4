#include "core/transition.h"

#include <ATen/ATen.h>

#include "core/products.h"
#include "core/relu_dropout.h"

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

  at::Tensor forward(const at::Tensor& x, const at::Tensor&, const dist::Rows& local, StackRows&, std::size_t,
                     const DropoutKey& key) const override {
    const at::Tensor product = multiply(x, kernel1_, type_).to(bias1_.scalar_type());  // [rows, ffn]
    const at::Tensor hidden =
        relu_dropout(product, bias1_, dropout_rate_, key.with_site(Site::transition_hidden), local);
    return multiply_add(bias2_, hidden, kernel2_, type_);
  }
  bool sees_neighbours() const override { return false; }

 private:
  at::ScalarType type_;  // of products
  double dropout_rate_;
  at::Tensor kernel1_;  // [d, ffn]
  at::Tensor bias1_;    // [ffn]
  at::Tensor kernel2_;  // [ffn, d]
  at::Tensor bias2_;    // [d]
};

/// One filter a channel over neighbouring positions, then an affine map of each position.
class SeparableConvolution {
 public:
  SeparableConvolution(Parameters& parameters, const std::string& name, std::int64_t width, std::int64_t in,
                       std::int64_t out, bool causal, at::ScalarType type)
      : type_(type),
        reach_{causal ? width - 1 : width / 2, causal ? 0 : width / 2},
        depthwise_(parameters.add_kernel(name + ".depthwise", {width, in}, width, width)),
        pointwise_(parameters.add_kernel(name + ".pointwise", {in, out}, in, out)),
        bias_(parameters.add_constant(name + ".bias", {out}, 0)) {}

  const Reach& reach() const { return reach_; }

  /// `windows` [rows, width, in] -> [rows, out]
  at::Tensor operator()(const at::Tensor& windows) const {
    return multiply_add(bias_, (windows * depthwise_).sum(1), pointwise_, type_);
  }

 private:
  at::ScalarType type_;  // of products
  Reach reach_;
  at::Tensor depthwise_;  // [width, in]
  at::Tensor pointwise_;  // [in, out]
  at::Tensor bias_;       // [out]
};

/// Depthwise 3, pointwise, ReLU, depthwise 5, pointwise.
class ConvolutionTransition final : public Transition {
 public:
  ConvolutionTransition(Parameters& parameters, const std::string& name, const ModelOptions& options, bool causal)
      : dropout_rate_(options.transition_dropout),
        first_(parameters, name + ".convolution1", 3, options.d_model, options.ffn, causal, product_type(options)),
        second_(parameters, name + ".convolution2", 5, options.ffn, options.d_model, causal, product_type(options)) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& copied, const dist::Rows&, StackRows& rows,
                     std::size_t layer, const DropoutKey& key) const override {
    const at::Tensor sent = copied.defined() ? at::cat({x, copied}) : x;
    const Windows windows = rows.windows(layer, sent, first_.reach(), second_.reach());
    const at::Tensor hidden = at::relu(first_(windows.first));  // [inner rows, ffn]
    return second_(
        windows.second(dropout(hidden, dropout_rate_, key.with_site(Site::transition_hidden), windows.inner)));
  }
  bool sees_neighbours() const override { return true; }

 private:
  double dropout_rate_;
  SeparableConvolution first_;
  SeparableConvolution second_;
};

}  // namespace

std::unique_ptr<Transition> make_transition(Parameters& parameters, const std::string& name,
                                            const ModelOptions& options, bool causal) {
  if (options.transition == TransitionKind::separable_convolution)
    return std::make_unique<ConvolutionTransition>(parameters, name, options, causal);
  return std::make_unique<FeedForward>(parameters, name, options);
}

}  // namespace ut::core
