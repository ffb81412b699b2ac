// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_rhythm.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace almanac::trace {
namespace {

constexpr double kSecondsPerHour = 3600;

/// The weight of the hour that `time` lies in, UTC.
double hour_weight(const Workload::Rhythm& rhythm, Time time) {
  const auto hour = std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count();
  const auto of_day = static_cast<std::size_t>((hour % 24 + 24) % 24);
  const auto day = (hour - static_cast<std::int64_t>(of_day)) / 24;
  const auto weekday = static_cast<std::size_t>(((day + 3) % 7 + 7) % 7);  // 1970-01-01: Thursday
  return rhythm.hours[of_day] * rhythm.weekdays[weekday];
}

}  // namespace

Calendar::Calendar(const Workload& workload) : span_s_(workload.span.days * 86400) {
  const Time start = workload.span.start;
  const auto since_hour =
      start.time_since_epoch() - std::chrono::floor<std::chrono::hours>(start.time_since_epoch());
  first_s_ = kSecondsPerHour - seconds(since_hour);
  double total = 0;
  double begin = 0;
  for (double end = first_s_; begin < span_s_; begin = end, end += kSecondsPerHour) {
    const Time at = start + Duration(static_cast<std::int64_t>(begin * 1e3));
    total += hour_weight(workload.rhythm, at) * (std::min(end, span_s_) - begin);
    cumulative_.push_back(total);
  }
  // A span that lies within a pause of the rhythm is even.
  if (total <= 0) {
    for (std::size_t i = 0; i < cumulative_.size(); ++i) {
      cumulative_[i] = static_cast<double>(i + 1);
    }
  }
}

std::int64_t Calendar::second(double even) const {
  const double wanted = even * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, wanted);
  const auto hour = found - cumulative_.begin();
  const double below = hour == 0 ? 0 : *(found - 1);
  const double inside = *found > below ? (wanted - below) / (*found - below) : 0;
  const double begin = hour == 0 ? 0 : first_s_ + kSecondsPerHour * static_cast<double>(hour - 1);
  const double end = std::min(span_s_, first_s_ + kSecondsPerHour * static_cast<double>(hour));
  const double second = begin + inside * (end - begin);
  return static_cast<std::int64_t>(std::min(second, span_s_));
}

}  // namespace almanac::trace
