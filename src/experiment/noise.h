// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies with worse and worse predictions: how good predictions must be for a policy to pay.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/sweep.h"

namespace almanac::experiment {

/// Standard deviations of the logarithm of prediction / run time (estimate lognormal); 0 = exact.
inline constexpr std::array kNoise{0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0};
/// What policies are compared with: first come, first served with backfill by time limits.
inline constexpr const char* kWithoutPredictions = "easy";

/// Returns the policy with predictions of that quality: "qssf+lognormal:0.5".
std::string with_noise(const std::string& policy, double sigma);
/// Whether run times change what it decides.
bool reads_run_times(const std::string& policy);

struct NoiseRow {
  std::string policy{};
  std::array<double, kNoise.size()> wait_s{};  ///< Mean wait.
  /// The sigma from which its mean wait is above that of kWithoutPredictions, between two of kNoise
  /// by linear interpolation; nothing if it never is.
  std::optional<double> worse_from{};
};

/// Returns the policies that a sweep of noise has to simulate: kWithoutPredictions, then each
/// policy at each noise.
std::vector<std::string> noise_plan(std::span<const std::string> policies);
/// Returns a row for each policy from the points of noise_plan(), with means over loads and seeds.
std::vector<NoiseRow> noise_rows(std::span<const std::string> policies,
                                 const std::vector<SweepPoint>& points);
/// Returns the mean wait of kWithoutPredictions.
double wait_without_predictions(const std::vector<SweepPoint>& points);

}  // namespace almanac::experiment
