// SPDX-License-Identifier: Apache-2.0
#include "predict/explain.h"

#include <algorithm>
#include <cmath>

namespace almanac::predict {

std::vector<Reason> explain(const Model& model, const Row& row, std::size_t most) {
  const std::vector<double> middles = model.class_middles();
  const auto classes = static_cast<std::size_t>(model.trees().classes());
  std::vector<float> probabilities(classes);
  model.trees().predict(row, probabilities);
  double mean = 0;
  for (std::size_t of = 0; of < classes; ++of) {
    mean += static_cast<double>(probabilities[of]) * middles[of];
  }
  const std::vector<float> contributions = model.trees().contributions(row);
  std::vector<Reason> reasons;
  for (std::size_t at = 0; at < kFeatures; ++at) {
    double shift = 0;  // the derivative of a softmax mean: sum of p (m - mean) per log-odds
    for (std::size_t of = 0; of < classes; ++of) {
      shift += static_cast<double>(probabilities[of]) * (middles[of] - mean) *
               static_cast<double>(contributions[of * (kFeatures + 1) + at]);
    }
    const FeatureName& feature = feature_names()[at];
    reasons.push_back(
        {feature.name, feature.words, shown(feature, row[at]), std::pow(10.0, shift)});
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) {
    return std::abs(std::log(a.factor)) > std::abs(std::log(b.factor));
  });
  reasons.resize(std::min(most, reasons.size()));
  return reasons;
}

}  // namespace almanac::predict
