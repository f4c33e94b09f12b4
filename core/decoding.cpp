#include "core/decoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "base/span.h"
#include "core/beam_search.h"

namespace ut::core {
namespace {

Likeliest decode_greedily(PrefixDecoder& decoder, const std::vector<std::int64_t>& limits, const Outputs& given,
                          const DecodingOptions& options) {
  Likeliest found{Outputs(limits.size()), std::vector<double>(limits.size())};
  Outputs& outputs = found.outputs;
  Prefixes prefixes;
  for (std::size_t index = 0; index < limits.size(); ++index)
    if (limits[index] > 0) prefixes.place.push_back(static_cast<std::int64_t>(index));
  prefixes.last.assign(prefixes.place.size(), -1);
  while (!prefixes.place.empty()) {
    prefixes.parent = prefixes.place;
    const at::Tensor scores = decoder.next(prefixes);
    const at::Tensor symbols = scores.argmax(1).cpu();
    at::Tensor log_probabilities = at::zeros(symbols.sizes(), at::kDouble);
    if (options.with_probabilities) log_probabilities = at::log_softmax(scores, 1).amax(1).to(at::kCPU, at::kDouble);
    for (std::size_t row = 0; row < prefixes.place.size(); ++row) {
      const auto index = static_cast<std::size_t>(prefixes.place[row]);
      if (std::cmp_less(prefixes.length, given[index].size())) continue;  // what follows is known
      outputs[index].push_back(symbols.const_data_ptr<std::int64_t>()[row]);
      found.log_probabilities[index] += log_probabilities.const_data_ptr<double>()[row];
    }
    std::erase_if(prefixes.place, [&](std::int64_t place) {
      const auto& output = outputs[static_cast<std::size_t>(place)];
      return !output.empty() && (output.back() == options.end_of_sequence ||
                                 std::cmp_greater_equal(output.size(), limits[static_cast<std::size_t>(place)]));
    });
    prefixes.last.clear();
    for (const std::int64_t place : prefixes.place) {
      const auto index = static_cast<std::size_t>(place);
      prefixes.last.push_back(outputs[index].empty() ? given[index][static_cast<std::size_t>(prefixes.length)]
                                                     : outputs[index].back());
    }
    ++prefixes.length;
  }
  for (auto& output : outputs) output.erase(std::ranges::find(output, options.end_of_sequence), output.end());
  return found;
}

}  // namespace

Decoded decode(const Model& model, const Batch& batch, const dist::Sequences& sequences, const Steps& steps,
               const DecodingOptions& options, dist::Communicator& group) {
  const at::NoGradGuard no_graph;
  const auto count = static_cast<std::int64_t>(sequences.ids.size());
  const base::Span all{0, count};
  const base::Span mine = model.decodes_together() ? all : base::share(count, group.rank(), group.size());
  std::vector<std::int64_t> limits = options.limits;  // of all sequences
  if (limits.empty()) limits.assign(sequences.ids.size(), options.longest);
  Outputs given = options.given;
  given.resize(sequences.ids.size());
  const auto of_mine = [&mine](const auto& values) {
    return std::vector(values.begin() + mine.begin, values.begin() + mine.end);
  };
  const auto decoder = model.begin_decoding(batch, steps, {sequences, mine, options.beam, group});
  Likeliest found =
      options.beam == 1
          ? decode_greedily(*decoder, of_mine(limits), of_mine(given), options)
          : search_with_beam(*decoder, of_mine(limits), {options.beam, options.length_penalty, options.end_of_sequence},
                             of_mine(given));
  if (!model.decodes_together()) {
    const std::int64_t longest = limits.empty() ? 0 : *std::ranges::max_element(limits);
    found = gather_likeliest(found, mine.begin, sequences.ids.size(), longest, group);
  }
  return {std::move(found), decoder->encoder_updates(), decoder->decoder_updates()};
}

}  // namespace ut::core
