// SPDX-License-Identifier: Apache-2.0

#include "deployment/bandit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"

namespace almanac::deployment {
namespace {

/// Weights that sum to 1, of their logarithms, which may be far below 0.
std::vector<double> normed(const std::vector<double>& logs) {
  const double largest = *std::max_element(logs.begin(), logs.end());
  std::vector<double> made;
  for (const double each : logs) made.push_back(std::exp(each - largest));
  const double sum = std::accumulate(made.begin(), made.end(), 0.0);
  for (double& each : made) each /= sum;
  return made;
}

}  // namespace

std::vector<double> Exp3::chances() const {
  std::vector<double> made = normed(logs_);
  for (double& each : made) {
    each = (1 - even_) * each + even_ / static_cast<double>(logs_.size());
  }
  return made;
}

std::size_t Exp3::choose(Rng& rng) const {
  const std::vector<double> all = chances();
  double left = rng.uniform();
  std::size_t model = 0;
  while (model + 1 < all.size() && left >= all[model]) left -= all[model++];
  return model;
}

void Exp3::learn(std::size_t model, double loss) {
  ALMANAC_CHECK(model < logs_.size() && loss >= 0 && loss <= 1, "model {} of {}, loss {}", model,
                logs_.size(), loss);
  logs_[model] -= rate_ * loss / chances()[model];
}

Exp4::Answer Exp4::combine(std::span<const int> labels) const {
  ALMANAC_CHECK(labels.size() == logs_.size(), "{} labels of {} models", labels.size(),
                logs_.size());
  const std::vector<double> weights = normed(logs_);
  std::map<int, double> votes;
  for (std::size_t model = 0; model < labels.size(); ++model) {
    if (labels[model] != kLate) votes[labels[model]] += weights[model];
  }
  Answer made;
  for (const auto& [label, weight] : votes) {
    if (weight > made.confidence) made = {label, weight};
  }
  return made;
}

void Exp4::learn(std::span<const int> labels, int right) {
  for (std::size_t model = 0; model < labels.size(); ++model) {
    if (labels[model] != kLate && labels[model] != right) logs_[model] -= rate_;
  }
}

std::vector<double> Exp4::weights() const { return normed(logs_); }

}  // namespace almanac::deployment
