// SPDX-License-Identifier: Apache-2.0
#include "formulas/intensity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace almanac::carbon {

void fill_gaps(std::vector<double>& hourly) {
  const auto known = [](double value) { return !std::isnan(value); };
  auto at = std::find_if(hourly.begin(), hourly.end(), known);
  ALMANAC_CHECK(at != hourly.end(), "no hour of {} has a value", hourly.size());
  std::fill(hourly.begin(), at, *at);
  while (at != hourly.end()) {
    const auto next = std::find_if(at + 1, hourly.end(), known);
    const auto gap = static_cast<double>(next - at);
    const double last = next == hourly.end() ? *at : *next;
    for (auto each = at + 1; each != next; ++each) {
      *each = *at + (last - *at) * static_cast<double>(each - at) / gap;
    }
    at = next;
  }
}

Intensity::Intensity(std::vector<double> hourly) : hourly_(std::move(hourly)) {
  ALMANAC_CHECK(!hourly_.empty(), "a series without hours");
  sums_.push_back(0);
  for (const double value : hourly_) {
    sums_.push_back(sums_.back() + value * static_cast<double>(kStepsAnHour));
  }
}

double Intensity::before(Step step) const {
  if (step >= end()) return sums_.back();
  const auto hour = static_cast<std::size_t>(step / kStepsAnHour);
  return sums_[hour] + hourly_[hour] * static_cast<double>(step % kStepsAnHour);
}

}  // namespace almanac::carbon
