// SPDX-License-Identifier: Apache-2.0
#include "trace/metric.h"

#include <algorithm>

#include "text/number.h"

namespace almanac::trace {

std::optional<std::vector<MetricPoint>> parse_metric(std::string_view text) {
  std::vector<MetricPoint> made;
  while (!text.empty()) {
    const std::string_view point = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(text.size(), point.size() + 1));
    const std::size_t colon = point.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto steps = text::parse_decimal(point.substr(0, colon));
    const auto value = text::parse_decimal(point.substr(colon + 1));
    if (!steps || !value || !(*steps > (made.empty() ? 0 : made.back().steps))) return std::nullopt;
    made.push_back({*steps, *value});
  }
  return made;
}

}  // namespace almanac::trace
