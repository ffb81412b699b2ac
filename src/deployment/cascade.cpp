// SPDX-License-Identifier: Apache-2.0

#include "deployment/cascade.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace almanac::deployment {
namespace {

constexpr double kRounding = 1e-12;

double accuracy_of(const std::vector<TriedAnswer>& answers) {
  const auto right = std::count_if(answers.begin(), answers.end(),
                                   [](const TriedAnswer& each) { return each.right; });
  return static_cast<double>(right) / static_cast<double>(answers.size());
}

}  // namespace

Cascade cheapest_cascade(std::span<const Variant> variants,
                         const std::vector<std::vector<TriedAnswer>>& answers, double tolerance) {
  ALMANAC_CHECK(!variants.empty() && answers.size() == variants.size() && !answers[0].empty(),
                "{} variants, answers of {}", variants.size(), answers.size());
  const std::size_t items = answers[0].size();
  double best_accuracy = 0;
  for (const auto& each : answers) {
    ALMANAC_CHECK(each.size() == items, "{} answers, not {}", each.size(), items);
    best_accuracy = std::max(best_accuracy, accuracy_of(each));
  }
  const double enough = (1 - tolerance) * best_accuracy;
  Cascade best{.mean_ms = std::numeric_limits<double>::infinity()};
  const auto consider = [&](const Cascade& tried) {
    if (tried.accuracy >= enough - kRounding && tried.mean_ms < best.mean_ms) best = tried;
  };
  for (std::size_t first = 0; first < variants.size(); ++first) {
    const double first_ms = variants[first].batch_ms(1, 1);
    consider({.first = first, .accuracy = accuracy_of(answers[first]), .mean_ms = first_ms});
    std::vector<std::size_t> order(items);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return answers[first][a].confidence < answers[first][b].confidence;
    });
    for (std::size_t second = 0; second < variants.size(); ++second) {
      if (second == first) continue;
      double right = accuracy_of(answers[first]) * static_cast<double>(items);
      for (std::size_t asked = 1; asked <= items; ++asked) {
        const std::size_t item = order[asked - 1];
        right += static_cast<double>(answers[second][item].right) -
                 static_cast<double>(answers[first][item].right);
        const double threshold = asked < items ? answers[first][order[asked]].confidence
                                               : std::numeric_limits<double>::infinity();
        if (threshold <= answers[first][item].confidence) continue;  // equal ones go together
        const double part = static_cast<double>(asked) / static_cast<double>(items);
        consider({.first = first,
                  .second = second,
                  .threshold = threshold,
                  .accuracy = right / static_cast<double>(items),
                  .mean_ms = first_ms + part * variants[second].batch_ms(1, 1)});
      }
    }
  }
  return best;
}

}  // namespace almanac::deployment
