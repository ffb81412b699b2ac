// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_rhythm.h"

#include <algorithm>
#include <chrono>
#include <cmath>
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
  std::uint32_t hour = 0;
  for (std::size_t part = 0; part < cumulative_.size(); ++part) {
    while (cumulative_[hour] <= total_to(part)) ++hour;
    guide_.push_back(hour);
  }
}

double Calendar::total_to(std::size_t part) const {
  return static_cast<double>(part) / static_cast<double>(cumulative_.size()) * cumulative_.back();
}

std::int64_t Calendar::second(double even) const {
  const double wanted = even * cumulative_.back();
  const auto part = static_cast<std::size_t>(even * static_cast<double>(guide_.size()));
  std::size_t hour = guide_[std::min(part, guide_.size() - 1)];
  while (hour + 1 < cumulative_.size() && cumulative_[hour] <= wanted) ++hour;
  const double below = hour == 0 ? 0 : cumulative_[hour - 1];
  const double inside =
      cumulative_[hour] > below ? (wanted - below) / (cumulative_[hour] - below) : 0;
  const double second = begin_of(hour) + inside * (begin_of(hour + 1) - begin_of(hour));
  return static_cast<std::int64_t>(std::min(second, span_s_));
}

std::size_t Calendar::hour_of(double& second) const {
  second -= std::floor(second / span_s_) * span_s_;
  if (second < first_s_) return 0;
  const auto hour = 1 + static_cast<std::size_t>((second - first_s_) / kSecondsPerHour);
  return std::min(hour, cumulative_.size() - 1);
}

double Calendar::even(double second) const {
  const std::size_t hour = hour_of(second);
  const double below = hour == 0 ? 0 : cumulative_[hour - 1];
  const double length = begin_of(hour + 1) - begin_of(hour);
  const double inside = std::clamp((second - begin_of(hour)) / length, 0.0, 1.0);
  return (below + inside * (cumulative_[hour] - below)) / cumulative_.back();
}

double Calendar::rate(double second) const {
  const std::size_t hour = hour_of(second);
  const double below = hour == 0 ? 0 : cumulative_[hour - 1];
  return (cumulative_[hour] - below) / (begin_of(hour + 1) - begin_of(hour));
}

double Calendar::begin_of(std::size_t hour) const {
  if (hour == 0) return 0;
  return std::min(span_s_, first_s_ + kSecondsPerHour * static_cast<double>(hour - 1));
}

}  // namespace almanac::trace
