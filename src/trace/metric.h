// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what a job would report as it trains: "10:0.52|40:0.61".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace almanac::trace {

/// A metric after a number of steps; larger is better.
struct MetricPoint {
  double steps = 0;
  double value = 0;
};

/// Parses `STEPS:VALUE` pairs separated by `|`, with steps above 0 and ascending. Returns nothing
/// if the text has another form.
std::optional<std::vector<MetricPoint>> parse_metric(std::string_view text);

}  // namespace almanac::trace
