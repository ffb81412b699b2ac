// SPDX-License-Identifier: Apache-2.0
#include "profiling/meter.h"

namespace almanac::profiling {
namespace {

/// Lines closer than this came at once: the clock of a reader tells them apart no better.
constexpr double kAtOnce_s = 0.002;

}  // namespace

void Meter::add(const Progress& progress, double at_s) {
  ++lines_;
  const Key key{progress.pattern, progress.total};
  Series& series = series_[key];
  switch (progress.told) {
    case Told::steps:
      count(series, progress.value, at_s);
      break;
    case Told::samples:
      count(series, progress.value / batch_, at_s);
      break;
    case Told::steps_a_second:
      rate(series, progress.value, at_s);
      break;
    case Told::samples_a_second:
      rate(series, progress.value / batch_, at_s);
      break;
  }
  const auto best = series_.find(best_);
  if (best == series_.end() || series.intervals.size() > best->second.intervals.size()) {
    best_ = key;
  }
}

void Meter::count(Series& series, double counter, double at_s) {
  if (!series.begun || counter <= series.counter / 2) {
    const bool same = series.begun && counter == series.counter;  // 0 again
    series.begun = true;
    series.counter = counter;
    series.steps = 0;
    if (!same) series.since_s = at_s;
    return;
  }
  if (counter <= series.counter) return;
  series.steps += counter - series.counter;
  series.counter = counter;
  if (at_s - series.since_s < kAtOnce_s) return;
  series.intervals.push_back({at_s - series.since_s, series.steps});
  series.since_s = at_s;
  series.steps = 0;
}

void Meter::rate(Series& series, double steps_a_second, double at_s) {
  // The rate is of the time since the line before; of the first line that time is not known.
  const double seconds = at_s - series.since_s;
  if (series.begun && seconds < kAtOnce_s) return;
  if (series.begun) series.intervals.push_back({seconds, seconds * steps_a_second});
  series.begun = true;
  series.since_s = at_s;
}

std::span<const Interval> Meter::intervals() const {
  const auto best = series_.find(best_);
  return best == series_.end() ? std::span<const Interval>{} : best->second.intervals;
}

std::size_t Meter::pattern() const { return best_.first; }

}  // namespace almanac::profiling
