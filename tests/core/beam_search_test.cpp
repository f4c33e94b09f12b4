#include "core/beam_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "core/decoding.h"
#include "core/make_model.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

using Symbols = std::vector<std::int64_t>;
using LogProbabilities = std::function<std::vector<double>(std::int64_t source, const Symbols& prefix)>;

double penalty(std::size_t length, double exponent) {
  return std::pow((5.0 + static_cast<double>(length)) / 6, exponent);
}

/// Gives the values of a function of whole prefixes. Like a model, it learns of prefixes only by place and parent.
class ScriptedDecoder final : public PrefixDecoder {
 public:
  ScriptedDecoder(LogProbabilities log_probabilities, std::int64_t width)
      : log_probabilities_(std::move(log_probabilities)), width_(width) {}

  at::Tensor next(const Prefixes& prefixes) override {
    std::map<std::int64_t, Symbols> known;
    std::vector<at::Tensor> rows;
    for (std::size_t index = 0; index < prefixes.place.size(); ++index) {
      Symbols& prefix = known[prefixes.place[index]];
      if (prefixes.length > 0) {
        prefix = known_.at(prefixes.parent[index]);
        prefix.push_back(prefixes.last[index]);
      }
      rows.push_back(at::tensor(log_probabilities_(prefixes.place[index] / width_, prefix), at::kDouble));
    }
    known_ = std::move(known);
    ++rounds;
    return at::stack(rows);
  }
  at::Tensor encoder_updates() const override { return {}; }
  at::Tensor decoder_updates() const override { return {}; }

  int rounds = 0;

 private:
  LogProbabilities log_probabilities_;
  std::int64_t width_;
  std::map<std::int64_t, Symbols> known_;
};

/// Drawn from few different values, so that many prefixes are equally likely.
std::vector<double> drawn(std::uint64_t seed, std::int64_t source, const Symbols& prefix, std::int64_t vocabulary) {
  std::uint64_t key = base::mix(seed, static_cast<std::uint64_t>(source));
  for (const std::int64_t symbol : prefix) key = base::mix(key, static_cast<std::uint64_t>(symbol));
  base::Random random(key);
  std::vector<double> weights;
  for (std::int64_t symbol = 0; symbol < vocabulary; ++symbol)
    weights.push_back(static_cast<double>(random.uniform(1, 3)));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight = std::log(weight / sum);
  return weights;
}

/// The search as it is described, for one source; it always goes on to the limit.
Symbols reference_beam_search(const LogProbabilities& log_probabilities, std::int64_t source, std::int64_t limit,
                              const BeamOptions& options) {
  struct Hypothesis {
    double value;
    Symbols symbols;
    std::size_t place = 0;  // breaks ties: first the prefix that was ahead, then the smaller symbol
  };
  std::vector<Hypothesis> running{{0, {}}};
  std::vector<Hypothesis> ended;
  for (std::int64_t length = 1; length <= limit && !running.empty(); ++length) {
    std::vector<Hypothesis> longer;
    for (const Hypothesis& prefix : running) {
      const auto values = log_probabilities(source, prefix.symbols);
      for (std::size_t symbol = 0; symbol < values.size(); ++symbol) {
        longer.push_back({prefix.value + values[symbol], prefix.symbols, longer.size()});
        longer.back().symbols.push_back(static_cast<std::int64_t>(symbol));
      }
    }
    std::ranges::sort(longer, {},
                      [](const Hypothesis& hypothesis) { return std::pair(-hypothesis.value, hypothesis.place); });
    if (std::cmp_greater(longer.size(), 2 * options.width)) longer.resize(static_cast<std::size_t>(2 * options.width));
    running.clear();
    for (Hypothesis& prefix : longer)
      if (prefix.symbols.back() == options.end_of_sequence)
        ended.push_back({prefix.value / penalty(prefix.symbols.size(), options.length_penalty), prefix.symbols});
      else if (std::cmp_less(running.size(), options.width))
        running.push_back(std::move(prefix));
  }
  if (ended.empty()) return running.front().symbols;
  Symbols best = std::ranges::max_element(ended, {}, &Hypothesis::value)->symbols;
  best.pop_back();
  return best;
}

TEST(BeamSearch, EqualsASearchThatAlwaysGoesToTheLimit) {
  constexpr std::int64_t vocabulary = 5;
  const std::vector<std::int64_t> limits{6, 1, 9, 3, 7};
  int rounds = 0;
  int unended = 0;
  std::set<Symbols> different;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::int64_t end = seed % 4 == 0 ? -1 : 1;  // -1: no symbol ends a sequence
    const BeamOptions options{1 + static_cast<std::int64_t>(seed % 5), 0.3 * static_cast<double>(seed % 7), end};
    const auto log_probabilities = [&](std::int64_t source, const Symbols& prefix) {
      return drawn(seed, source, prefix, vocabulary);
    };
    ScriptedDecoder decoder(log_probabilities, options.width);
    const auto outputs = search_with_beam(decoder, limits, options).outputs;
    const Outputs given{{}, {2}, {1, 3}, {4, 0, 4, 2}, {}};  // an end among what is given ends nothing
    const auto after_given = [&](std::int64_t source, const Symbols& prefix) {
      Symbols all = given[static_cast<std::size_t>(source)];
      all.insert(all.end(), prefix.begin(), prefix.end());
      return log_probabilities(source, all);
    };
    ScriptedDecoder reading_first(log_probabilities, options.width);
    const auto continued = search_with_beam(reading_first, limits, options, given).outputs;
    for (std::size_t source = 0; source < limits.size(); ++source) {
      const auto number = static_cast<std::int64_t>(source);
      EXPECT_EQ(outputs[source], reference_beam_search(log_probabilities, number, limits[source], options))
          << seed << ' ' << source;
      EXPECT_EQ(continued[source], reference_beam_search(after_given, number, limits[source], options))
          << seed << ' ' << source;
      if (end == -1) {
        EXPECT_EQ(std::ssize(outputs[source]), limits[source]);
      }
      different.insert(outputs[source]);
    }
    rounds += decoder.rounds;
    unended += end == -1 ? 1 : 0;
  }
  EXPECT_GT(different.size(), 40U) << "outputs that could hide a mistake";
  EXPECT_LT(rounds - unended * 9, (60 - unended) * 8) << "no search ended before the limit";
}

TEST(BeamSearch, IsGreedyWithWidthOneIfNothingEnds) {
  const auto log_probabilities = [](std::int64_t source, const Symbols& prefix) {
    return drawn(3, source, prefix, 50);
  };
  ScriptedDecoder decoder(log_probabilities, 1);
  const auto outputs = search_with_beam(decoder, {20, 20}, {1, 0.6, -1}).outputs;
  for (std::int64_t source = 0; source < 2; ++source) {
    Symbols greedy;
    for (int length = 0; length < 20; ++length) {
      const auto values = log_probabilities(source, greedy);
      greedy.push_back(std::ranges::max_element(values) - values.begin());
    }
    EXPECT_EQ(outputs[static_cast<std::size_t>(source)], greedy);
  }
}

TEST(BeamSearch, PrefersLongerOutputsWithAHigherLengthPenalty) {
  // Ends at once with probability 0.4, or ends after five symbols 2 with probability 0.6 * 0.9^5 = 0.35.
  const auto log_probabilities = [](std::int64_t, const Symbols& prefix) {
    const double other = std::log(1e-6);
    if (prefix.empty()) return std::vector<double>{other, std::log(0.4), std::log(0.6)};
    if (prefix.size() < 5) return std::vector<double>{other, std::log(0.1), std::log(0.9)};
    return std::vector<double>{other, std::log(0.9), std::log(0.1)};
  };
  const auto output = [&](double length_penalty) {
    ScriptedDecoder decoder(log_probabilities, 4);
    return search_with_beam(decoder, {8}, {4, length_penalty, 1}).outputs.front();
  };
  EXPECT_EQ(output(0), Symbols{});
  EXPECT_EQ(output(0.1), Symbols{});                 // -0.916 against -1.037 / 2^0.1 = -0.968
  EXPECT_EQ(output(0.6), Symbols({2, 2, 2, 2, 2}));  // -0.916 against -1.037 / 2^0.6 = -0.684
  EXPECT_EQ(output(2), Symbols({2, 2, 2, 2, 2}));
}

TEST(BeamSearch, GoesOnAsLongAsAPrefixMayCatchUp) {
  // Ends at once with probability 0.4: -0.916. Or goes on with probability 0.3 and is certain to end after six more:
  // -1.204, divided by 7/6 when it is two symbols long and by 2 at its end.
  const auto log_probabilities = [](std::int64_t, const Symbols& prefix) {
    const double other = std::log(1e-9);
    if (prefix.empty()) return std::vector<double>{std::log(0.3), std::log(0.4), std::log(0.3)};
    return prefix.size() < 6 ? std::vector<double>{other, other, 0.0} : std::vector<double>{other, 0.0, other};
  };
  ScriptedDecoder decoder(log_probabilities, 2);
  EXPECT_EQ(search_with_beam(decoder, {8}, {2, 1.0, 1}).outputs.front().size(), 6);
}

struct Form {
  ModelKind model = ModelKind::universal;
  Halting halting = Halting::none;
  ActKind kind = ActKind::basic;
  TransitionKind transition = TransitionKind::feed_forward;
};

class BeamOfModel : public testing::TestWithParam<Form> {
 protected:
  std::unique_ptr<Model> model(std::int64_t vocabulary, std::uint64_t seed = 2) const {
    ModelOptions options = small_options();
    options.kind = GetParam().model;
    options.transition = GetParam().transition;
    options.vocabulary = vocabulary;
    options.halting = lively_halting(GetParam().halting, GetParam().halting);
    options.halting.kind = GetParam().kind;
    options.norm = Norm::pre;
    options.residual = Residual::signal_in;
    if (options.halting.any()) options.encoder_steps = options.decoder_steps = 5;
    auto made = make_model(options, 3, at::kCPU);
    perturb_parameters(*made, seed, options.halting.any() ? 0.6 : 0.3);
    return made;
  }

  /// The log probabilities of what follows each of these prefixes, in one pass over them. [prefixes, vocabulary]
  at::Tensor next_log_probabilities(const Model& model,
                                    const std::vector<std::pair<std::int64_t, Symbols>>& prefixes) const {
    std::vector<ExampleSequence> sequences;
    std::vector<std::int64_t> ends;
    std::int64_t rows = 0;
    for (const auto& [source, prefix] : prefixes) {
      sequences.push_back(sources_[static_cast<std::size_t>(source)]);
      sequences.back().target = prefix;
      sequences.back().target.push_back(0);  // the place that is asked for; its own symbol is not seen
      rows += std::ssize(sequences.back().target);
      ends.push_back(rows - 1);
    }
    const at::NoGradGuard no_graph;
    const Batch batch = make_batch(sequences, Architecture::encoder_decoder, *group_);
    const at::Tensor logits = model.forward(batch, model.steps(), {}).logits;
    return at::log_softmax(logits.index_select(0, at::tensor(ends, at::kLong)), 1);
  }

  std::vector<Symbols> decode(const Model& model, const DecodingOptions& options) const {
    Batch batch;
    add_source(batch, sources_, *group_);
    return core::decode(model, batch, sources_of(sources_), model.steps(), options, *group_).found.outputs;
  }

  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  std::vector<ExampleSequence> sources_ = [] {
    auto sources = random_sequences(4, 5, 6, [] {
      ModelOptions options = small_options();
      options.vocabulary = 4;
      return options;
    }());
    for (auto& source : sources) source.offset = 0;
    return sources;
  }();
};

/// Of one source: for each prefix that has not ended, the log probabilities of what follows it [vocabulary].
using NextLogProbabilities = std::map<Symbols, at::Tensor>;

double score_of(const NextLogProbabilities& next, const Symbols& output, std::int64_t end, double length_penalty) {
  double sum = next.at(output)[end].item<double>();
  Symbols prefix;
  for (const std::int64_t symbol : output) {
    sum += next.at(prefix)[symbol].item<double>();
    prefix.push_back(symbol);
  }
  return sum / penalty(output.size() + 1, length_penalty);
}

TEST_P(BeamOfModel, FindsTheBestOfAllOutputsIfWideEnough) {
  constexpr std::int64_t vocabulary = 4;
  constexpr std::int64_t end = 1;
  constexpr std::size_t longest = 4;  // symbols, the end included
  std::vector<Symbols> prefixes{{}};
  for (std::size_t index = 0; index < prefixes.size(); ++index)
    for (const std::int64_t symbol : {0, 2, 3})
      if (prefixes[index].size() + 1 < longest) {
        prefixes.push_back(prefixes[index]);
        prefixes.back().push_back(symbol);
      }
  ASSERT_EQ(prefixes.size(), 1 + 3 + 9 + 27);
  std::set<Symbols> different;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto model = this->model(vocabulary, seed);
    std::map<double, std::vector<Symbols>> found;  // by length penalty, of each source
    for (const double length_penalty : {0.0, 0.6, 3.0})
      found[length_penalty] = decode(*model, {longest, end, 64, length_penalty, {}});
    for (std::size_t source = 0; source < sources_.size(); ++source) {
      std::vector<std::pair<std::int64_t, Symbols>> asked;
      for (const Symbols& prefix : prefixes) asked.emplace_back(source, prefix);
      const at::Tensor all = next_log_probabilities(*model, asked);
      NextLogProbabilities next_of_source;
      for (std::size_t index = 0; index < prefixes.size(); ++index)
        next_of_source[prefixes[index]] = all[static_cast<std::int64_t>(index)];
      for (const auto& [length_penalty, outputs] : found) {
        const Symbols& output = outputs[source];
        const auto score = [&](const Symbols& of) { return score_of(next_of_source, of, end, length_penalty); };
        EXPECT_EQ(output, *std::ranges::max_element(prefixes, {}, score)) << seed << ' ' << source;
        different.insert(output);
      }
    }
  }
  EXPECT_GE(different.size(), 4U) << "outputs that could hide a mistake";
}

/// A search with the cache against one in which every prefix is passed through the model whole.
TEST_P(BeamOfModel, EqualsASearchThatRecomputesWholePrefixes) {
  constexpr std::int64_t longest = 19;  // more than a cache has room for at first
  const auto model = this->model(4);
  for (const std::int64_t end : {1, -1}) {
    const BeamOptions options{3, 0.6, end};
    ScriptedDecoder decoder(
        [&](std::int64_t source, const Symbols& prefix) {
          const at::Tensor all = next_log_probabilities(*model, {{source, prefix}}).contiguous();
          return std::vector<double>(all.const_data_ptr<double>(), all.const_data_ptr<double>() + all.numel());
        },
        options.width);
    const std::vector<std::int64_t> limits(sources_.size(), longest);
    EXPECT_EQ(decode(*model, {longest, end, options.width, 0.6, {}}),
              search_with_beam(decoder, limits, options).outputs);
  }
}

TEST_P(BeamOfModel, EachOutputMayHaveALimitOfItsOwn) {
  const auto model = this->model(4);
  std::vector<std::int64_t> limits;
  for (const auto& sequence : sources_) limits.push_back(std::ssize(sequence.source) + 2);
  for (const std::int64_t beam : {1, 3}) {
    const auto outputs = decode(*model, {100, -1, beam, 0.6, limits});
    for (std::size_t source = 0; source < sources_.size(); ++source)
      EXPECT_EQ(std::ssize(outputs[source]), limits[source]);
  }
}

TEST_P(BeamOfModel, GreedyOutputsGoOnFromWhatIsGiven) {
  const auto model = this->model(4);
  const auto all = decode(*model, {19, -1});
  DecodingOptions options{0, -1};
  Outputs rest;
  for (std::size_t source = 0; source < sources_.size(); ++source) {
    const auto cut = all[source].begin() + static_cast<std::ptrdiff_t>(4 * source);
    options.given.emplace_back(all[source].begin(), cut);
    rest.emplace_back(cut, all[source].end());
    options.limits.push_back(std::ssize(rest.back()));
  }
  EXPECT_EQ(decode(*model, options), rest);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BeamOfModel,
    testing::Values(Form{}, Form{.halting = Halting::act}, Form{.halting = Halting::act_copy},
                    Form{.halting = Halting::act_copy, .transition = TransitionKind::separable_convolution},
                    Form{.halting = Halting::act, .kind = ActKind::global},
                    Form{.halting = Halting::act_copy, .kind = ActKind::global}, Form{.model = ModelKind::lstm}));

}  // namespace
}  // namespace ut::core
