// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many nodes an elastic job has in each hour, so that its work is done with the least carbon.
///
/// Source   Hanafy et al., CarbonScaler, SIGMETRICS'24, Algorithm 1.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace almanac::carbon {

/// What a job does and draws on so many nodes.
struct Scale {
  double throughput = 0;  ///< Work an hour.
  double power_w = 0;
};

struct ElasticTask {
  std::vector<Scale> on;  ///< On 0, 1, 2 ... nodes; power grows with each node from `least` on.
  int least = 1;          ///< At least 1.
  int most = 1;           ///< Below on.size().
  double work = 0;
};

/// Nodes in each hour of `intensity`; 0 = suspended. Nothing when the work cannot be done in them.
/// `parts` says what part of each hour there is, above 0; none = whole hours.
/// Takes the node that adds the most throughput for its carbon first, an earlier hour first among
/// equals. Optimal where throughput is concave in power. O(hours x nodes, log of that).
std::optional<std::vector<int>> scale(const ElasticTask& task, std::span<const double> intensity,
                                      std::span<const double> parts = {});

/// Grams of CO2 of `nodes`.
double grams(const ElasticTask& task, std::span<const double> intensity,
             std::span<const int> nodes);

}  // namespace almanac::carbon
