// SPDX-License-Identifier: Apache-2.0

/// \file
/// What GPUs cost.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"

namespace almanac::capacity {

/// Hours of a month, as clouds bill them.
inline constexpr double kMonth_h = 730;

/// Money per GPU-hour.
struct Price {
  std::string gpu_type{};  ///< "" for every type.
  double gpu_hour = 0;
};

/// Parses "2.5", or "V100=1.2,A100=2.5". "" gives no price. Fails with usage.
Result<std::vector<Price>> parse_prices(const std::string& text);

/// Fails with usage if prices are given, but not for every GPU type of the cluster.
Result<void> check_prices(const std::vector<Price>& prices, const cluster::Cluster& cluster);

/// Returns the price of a GPU-hour on a node of this class; NaN without prices.
double price_of(const std::vector<Price>& prices, const cluster::NodeClass& make);

}  // namespace almanac::capacity
