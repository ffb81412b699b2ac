// SPDX-License-Identifier: Apache-2.0
#include "energy/outage.h"

#include <cmath>
#include <vector>

#include "stats/quantile.h"

namespace almanac::energy {
namespace {

constexpr double kPart = 0.1;
constexpr double kLeastLevel = 100;
constexpr double kLowQuantile = 0.05;
constexpr std::size_t kLongestDays = 7;

}  // namespace

bool OutageFilter::is_outage(double value) {
  if (std::isnan(value)) {
    ++lasted_;
    return true;
  }
  if (!recent_.empty() && value < kPart * recent_.back() && lasted_ < kLongestDays * day_) {
    std::vector<double> day(recent_.begin(), recent_.end());
    const double low = stats::quantile(day, kLowQuantile);
    if (low >= kLeastLevel && value < kPart * low) {
      ++lasted_;
      return true;
    }
  }
  if (lasted_ >= kLongestDays * day_)
    recent_.clear();  // it was no outage: this is how things are now
  lasted_ = 0;
  recent_.push_back(value);
  if (recent_.size() > day_) recent_.pop_front();
  return false;
}

}  // namespace almanac::energy
