// SPDX-License-Identifier: Apache-2.0
#include "capacity/prices.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stats/quantile.h"
#include "text/number.h"

namespace almanac::capacity {

namespace {

/// Highest price of a GPU-hour, in any currency.
constexpr double kMostPrice = 1e6;

}  // namespace

Result<std::vector<Price>> parse_prices(const std::string& text) {
  std::vector<Price> prices;
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::size_t equal = part.find('=');
    const bool has_type = equal != std::string::npos;
    const auto price = text::parse_decimal(has_type ? part.substr(equal + 1) : part);
    if (!price || *price < 0 || *price > kMostPrice) {
      return fail(Code::usage, fmt::format("--price takes money per GPU-hour, such as 2.5 or "
                                           "V100=1.2,A100=2.5, found \"{}\"",
                                           text));
    }
    prices.push_back({.gpu_type = has_type ? part.substr(0, equal) : "", .gpu_hour = *price});
    from = comma + 1;
  }
  return prices;
}

Result<void> check_prices(const std::vector<Price>& prices, const cluster::Cluster& cluster) {
  if (prices.empty()) return {};
  for (const cluster::Node& node : cluster.nodes) {
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    if (make.gpus == 0 || !std::isnan(price_of(prices, make))) continue;
    if (make.gpu_type.empty()) {
      return fail(Code::usage, "--price names GPU types, and nodes of this cluster have none", {},
                  "give one price, such as --price 2.5");
    }
    return fail(
        Code::usage, fmt::format("--price has no price for GPU type \"{}\"", make.gpu_type), {},
        fmt::format("the GPU types of the cluster are {}", fmt::join(cluster.gpu_types(), ", ")));
  }
  return {};
}

double price_of(const std::vector<Price>& prices, const cluster::NodeClass& make) {
  for (const Price& price : prices) {
    if (cluster::is_one_of(make.gpu_type, price.gpu_type)) return price.gpu_hour;
  }
  return stats::kNaN;
}

}  // namespace almanac::capacity
