// SPDX-License-Identifier: Apache-2.0
#include "study/rhythm.h"

#include <cmath>
#include <limits>

namespace almanac::study {
namespace {

constexpr double kFewestMinutes = 7 * 24 * 60;
constexpr double kSameCourse = 0.5;

using Hours = std::array<double, DailyRhythm::kHours>;

/// Pearson's; NaN where a value is.
double correlation(const Hours& one, const Hours& other) {
  double mean_one = 0;
  double mean_other = 0;
  for (std::size_t hour = 0; hour < one.size(); ++hour) {
    mean_one += one[hour] / static_cast<double>(one.size());
    mean_other += other[hour] / static_cast<double>(one.size());
  }
  double together = 0;
  double square_one = 0;
  double square_other = 0;
  for (std::size_t hour = 0; hour < one.size(); ++hour) {
    together += (one[hour] - mean_one) * (other[hour] - mean_other);
    square_one += (one[hour] - mean_one) * (one[hour] - mean_one);
    square_other += (other[hour] - mean_other) * (other[hour] - mean_other);
  }
  return together / std::sqrt(square_one * square_other);
}

}  // namespace

double DailyRhythm::Sum::mean() const {
  return minutes > 0 ? total / minutes : std::numeric_limits<double>::quiet_NaN();
}

void DailyRhythm::add(std::int64_t minute, double value, double minutes) {
  constexpr std::int64_t kDay = 24 * 60;
  const std::int64_t day = minute >= 0 ? minute / kDay : (minute - kDay + 1) / kDay;
  const auto hour = static_cast<std::size_t>((minute - day * kDay) / 60);
  Sum& sum = sums_[static_cast<std::size_t>(day & 1)][hour];
  sum.total += minutes * value;
  sum.minutes += minutes;
}

double DailyRhythm::mean(std::size_t hour) const {
  return Sum{sums_[0][hour].total + sums_[1][hour].total,
             sums_[0][hour].minutes + sums_[1][hour].minutes}
      .mean();
}

double DailyRhythm::mean() const {
  Sum all;
  for (const auto& days : sums_) {
    for (const Sum& sum : days) {
      all.total += sum.total;
      all.minutes += sum.minutes;
    }
  }
  return all.mean();
}

bool DailyRhythm::repeats() const {
  Hours even{};
  Hours odd{};
  double minutes = 0;
  for (std::size_t hour = 0; hour < kHours; ++hour) {
    even[hour] = sums_[0][hour].mean();
    odd[hour] = sums_[1][hour].mean();
    minutes += sums_[0][hour].minutes + sums_[1][hour].minutes;
  }
  return minutes >= kFewestMinutes && correlation(even, odd) >= kSameCourse;
}

}  // namespace almanac::study
