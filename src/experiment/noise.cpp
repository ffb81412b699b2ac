// SPDX-License-Identifier: Apache-2.0
#include "experiment/noise.h"

#include <limits>

#include <fmt/format.h>

#include "policy/registry.h"

namespace almanac::experiment {
namespace {

double mean_wait(const std::vector<SweepPoint>& points, const std::string& policy) {
  double sum = 0;
  std::size_t count = 0;
  for (const SweepPoint& point : points) {
    if (point.summary.policy != policy) continue;
    sum += point.summary.avg_wait_s;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

}  // namespace

std::string with_noise(const std::string& policy, double sigma) {
  return sigma == 0 ? policy + "+oracle" : fmt::format("{}+lognormal:{}", policy, sigma);
}

bool reads_run_times(const std::string& policy) {
  const auto composition = policy::registry().compose(policy);
  return composition &&
         policy::registry().traits(*composition).has(policy::Trait::reads_run_times) &&
         policy::registry().compose(with_noise(policy, 1));
}

std::vector<std::string> noise_plan(std::span<const std::string> policies) {
  std::vector<std::string> made{kWithoutPredictions};
  for (const std::string& policy : policies) {
    for (const double sigma : kNoise) made.push_back(with_noise(policy, sigma));
  }
  return made;
}

std::vector<NoiseRow> noise_rows(std::span<const std::string> policies,
                                 const std::vector<SweepPoint>& points) {
  const double bar_s = wait_without_predictions(points);
  std::vector<NoiseRow> made;
  for (const std::string& policy : policies) {
    NoiseRow row{.policy = policy};
    for (std::size_t at = 0; at < kNoise.size(); ++at) {
      row.wait_s[at] = mean_wait(points, with_noise(policy, kNoise[at]));
      if (row.worse_from || !(row.wait_s[at] > bar_s)) continue;
      row.worse_from = kNoise[at];
      if (at == 0) continue;
      const double before_s = row.wait_s[at - 1];
      const double part = (bar_s - before_s) / (row.wait_s[at] - before_s);
      row.worse_from = kNoise[at - 1] + part * (kNoise[at] - kNoise[at - 1]);
    }
    made.push_back(std::move(row));
  }
  return made;
}

double wait_without_predictions(const std::vector<SweepPoint>& points) {
  return mean_wait(points, kWithoutPredictions);
}

}  // namespace almanac::experiment
