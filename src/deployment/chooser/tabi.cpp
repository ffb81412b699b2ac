// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small variant first, and a larger one for answers that it is not sure of. The two answers are
/// then combined: each counts by how often the variant was right when it was as sure.
///
/// The pair and the confidence below which the larger variant is asked are the cheapest whose
/// combined answers to the tried items lose at most the tolerance of the most accurate variant's.
///
/// Source   Wang et al., EuroSys'23 (Tabi): calibrated confidence decides which queries go on to a
///          large model, whose input is pruned, and a weighted ensemble answers them. Only its
///          abstract and accounts of it were available.
/// Differs  Confidence is calibrated in ten bins, not by temperature. A pruned input is a variant
///          of its own in the tables, with its own times and answers. Two levels.
/// Cost     O(variants^2 x items log items) at the start
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

/// How often the answers of a variant were right, by its confidence.
class Calibration {
 public:
  explicit Calibration(const std::vector<TriedAnswer>& answers) {
    std::array<double, kBins> tried{};
    for (const TriedAnswer& each : answers) {
      tried[bin(each.confidence)] += 1;
      right_[bin(each.confidence)] += each.right ? 1 : 0;
    }
    for (std::size_t at = 0; at < kBins; ++at) right_[at] /= std::max(1.0, tried[at]);
  }
  double operator()(double confidence) const { return right_[bin(confidence)]; }

 private:
  static constexpr std::size_t kBins = 10;
  static std::size_t bin(double confidence) {
    return std::min(kBins - 1, static_cast<std::size_t>(confidence * kBins));
  }
  std::array<double, kBins> right_{};
};

class Tabi final : public Chooser {
 public:
  explicit Tabi(const ChooserCase& told) {
    for (const auto& each : told.answers) known_.emplace_back(each);
    double best = 0;
    for (const auto& each : told.answers) best = std::max(best, right_of(each));
    const double enough = (1 - told.tolerance) * best - kRounding;
    const auto items = static_cast<double>(told.answers.front().size());
    double least_ms = std::numeric_limits<double>::infinity();
    const auto consider = [&](const Way& way, double right, double asked) {
      const double ms = told.variants[way.first].batch_ms(1, 1) +
                        asked / items * told.variants[way.second].batch_ms(1, 1);
      if (right < enough || ms >= least_ms) return;
      least_ms = ms;
      way_ = way;
    };
    for (std::size_t first = 0; first < told.variants.size(); ++first) {
      consider({first, first, 0}, right_of(told.answers[first]), 0);
      for (std::size_t second = 0; second < told.variants.size(); ++second) {
        if (second != first) try_pair(told, first, second, consider);
      }
    }
  }

  std::vector<std::size_t> may_ask() const override {
    if (way_.first == way_.second) return {way_.first};
    return {way_.first, way_.second};
  }
  std::vector<std::size_t> ask(Rng&) override { return {way_.first}; }
  std::optional<std::size_t> ask_more(std::span<const Label> said) override {
    const Label& small = said[way_.first];
    if (small.label == Exp4::kLate || small.confidence >= way_.threshold) return std::nullopt;
    return way_.second;
  }
  int answer(std::span<const Label> said) override {
    const Label &small = said[way_.first], &large = said[way_.second];
    if (large.label == Exp4::kLate) return small.label;
    return is_first_heard(small.confidence, large.confidence, way_) ? small.label : large.label;
  }

 private:
  static constexpr double kRounding = 1e-9;
  struct Way {
    std::size_t first = 0, second = 0;  // the same if the first answers everything
    double threshold = 0;               // the second is asked below this confidence
  };

  static double right_of(const std::vector<TriedAnswer>& answers) {
    return static_cast<double>(std::count_if(answers.begin(), answers.end(),
                                             [](const TriedAnswer& each) { return each.right; }));
  }

  bool is_first_heard(double small, double large, const Way& way) const {
    return known_[way.first](small) > known_[way.second](large);
  }

  /// Considers each threshold: the second is asked for the least sure answers, equal ones together.
  template <typename Consider>
  void try_pair(const ChooserCase& told, std::size_t first, std::size_t second,
                const Consider& consider) const {
    const auto &small = told.answers[first], &large = told.answers[second];
    std::vector<std::size_t> order(small.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return small[a].confidence < small[b].confidence;
    });
    double right = right_of(small);
    for (std::size_t asked = 1; asked <= order.size(); ++asked) {
      const TriedAnswer &one = small[order[asked - 1]], &other = large[order[asked - 1]];
      if (!is_first_heard(one.confidence, other.confidence, {first, second, 0})) {
        right += (other.right ? 1 : 0) - (one.right ? 1 : 0);
      }
      const double threshold = asked < order.size() ? small[order[asked]].confidence
                                                    : std::numeric_limits<double>::infinity();
      if (threshold <= one.confidence) continue;
      consider({first, second, threshold}, right, static_cast<double>(asked));
    }
  }

  std::vector<Calibration> known_;  // by variant
  Way way_;
};

}  // namespace

void register_tabi(Registry& registry) {
  registry.choosers.add({.name = "tabi",
                         .summary = "a small variant, and a larger one that is combined with it "
                                    "when it is unsure",
                         .source = "Wang et al. EuroSys'23",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                                    return std::make_unique<Tabi>(told);
                                  },
                                  .needs_answers = true,
                                  .needs_confidence = true}});
}

}  // namespace almanac::deployment::chooser
