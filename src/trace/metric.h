// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what a job would report as it trains: "10:0.52|40:0.61".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace almanac::trace {

/// A metric, the larger the better, after so many steps.
struct MetricPoint {
  double steps = 0;
  double value = 0;
};

/// Separated by `|`, each `STEPS:VALUE`, steps above 0 and ascending. Nothing where the text is not
/// like that.
std::optional<std::vector<MetricPoint>> parse_metric(std::string_view text);

}  // namespace almanac::trace
