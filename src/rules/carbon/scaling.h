// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the nodes of an elastic job in each hour so that its work is done with the least carbon.
///
/// Source   Hanafy et al., CarbonScaler, SIGMETRICS'24, Algorithm 1.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace almanac::carbon {

/// Throughput and power of a job on a given number of nodes.
struct Scale {
  double throughput = 0;  ///< Work per hour.
  double power_w = 0;
};

struct ElasticTask {
  std::vector<Scale> on;  ///< On 0, 1, 2 ... nodes; power grows with each node from `least` on.
  int least = 1;          ///< Fewest nodes, 1 or more.
  int most = 1;           ///< Most nodes, below `on.size()`.
  double work = 0;        ///< In throughput x hours.
};

/// Returns the nodes in each hour, 0 where the job is suspended, or nothing if the work does not
/// fit into these hours. `intensity` is in g of CO2 per kWh, one value per hour. `parts` is the
/// fraction of each hour that counts, above 0; empty means whole hours.
///
/// Adds nodes one by one, the node with the most throughput for its carbon first and the earlier
/// hour among equals. Optimal if throughput is concave in power.
/// Cost     O(hours x nodes x log(hours))
std::optional<std::vector<int>> scale(const ElasticTask& task, std::span<const double> intensity,
                                      std::span<const double> parts = {});

/// Returns the grams of CO2 that `nodes` (per hour, for whole hours) emit.
double grams(const ElasticTask& task, std::span<const double> intensity,
             std::span<const int> nodes);

}  // namespace almanac::carbon
