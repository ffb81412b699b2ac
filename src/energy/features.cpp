// SPDX-License-Identifier: Apache-2.0
#include "energy/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace almanac::energy {
namespace {

constexpr std::size_t kDaysBack = 28;
constexpr std::size_t kWeek = 7;
constexpr std::size_t kDaysAlike = 10;
// A time of day is known from these many days before, each smoothed over so much at either side.
constexpr std::array<std::size_t, 3> kSpans = {3, 7, 14};
constexpr Duration kSmooth = 30min;

/// A mean that may be of nothing.
struct Mean {
  double sum = 0;
  std::size_t count = 0;

  void add(double value) { sum += value, ++count; }
  double or_zero() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

void add_recent(std::vector<double>& x, const History& history, std::size_t day) {
  const std::size_t now = history.size() - 1;
  const double value = history.newest();
  const std::size_t hour = std::max<std::size_t>(1, day / 24);
  for (const std::size_t steps : {std::size_t{1}, hour / 2, hour, 2 * hour, 3 * hour, 6 * hour,
                                  12 * hour, day, kWeek * day}) {
    x.push_back(now >= steps ? value - history[now - steps] : 0);
  }
  for (const std::size_t steps : {hour, 3 * hour, 12 * hour, day, 3 * day, kWeek * day}) {
    x.push_back(history.mean(now, steps) - value);
  }
  for (const std::size_t steps : {3 * hour, day}) {
    const auto end = history.values().end();
    const auto begin = end - static_cast<std::ptrdiff_t>(std::min(history.size(), steps));
    const auto [least, most] = std::minmax_element(begin, end);
    x.push_back(*most - value);
    x.push_back(*least - value);
  }
}

/// What followed at the same time of earlier days, and how high it was then.
void add_earlier_days(std::vector<double>& x, const History& history, const Moment& moment,
                      const Calendar& calendar) {
  const std::size_t now = history.size() - 1;
  const std::size_t day = moment.day;
  const Time then = moment.at + moment.step * static_cast<std::int64_t>(moment.horizon);
  const bool off = calendar.is_off(moment.at);
  const bool off_then = calendar.is_off(then);
  const auto margin = static_cast<std::size_t>(kSmooth / moment.step);
  const auto smooth = [&](std::size_t at) {
    return history.mean(std::min(now, at + margin), 2 * margin + 1);
  };
  std::array<Mean, kSpans.size()> change;
  std::array<Mean, kSpans.size()> level;
  Mean change_alike;
  Mean level_alike;
  for (std::size_t back = (moment.horizon + day - 1) / day; back <= kDaysBack; ++back) {
    if (now < back * day) break;
    const std::size_t origin = now - back * day;
    const double later = smooth(origin + moment.horizon);
    const double smoothed = later - smooth(origin);
    for (std::size_t span = 0; span < kSpans.size(); ++span) {
      if (back > kSpans[span]) continue;
      change[span].add(smoothed);
      level[span].add(later);
    }
    const auto ago = 24h * static_cast<std::int64_t>(back);
    if (change_alike.count < kDaysAlike && calendar.is_off(moment.at - ago) == off &&
        calendar.is_off(then - ago) == off_then) {
      change_alike.add(smoothed);
      level_alike.add(later);
    }
  }
  const double value = history.newest();
  for (std::size_t span = 0; span < kSpans.size(); ++span) {
    x.push_back(change[span].or_zero());
    x.push_back(level[span].count > 0 ? level[span].or_zero() - value : 0);
  }
  x.push_back(change_alike.or_zero());
  x.push_back(level_alike.count > 0 ? level_alike.or_zero() - value : 0);
  const double turn = 2 * std::numbers::pi * std::fmod(seconds(moment.at) / 86400, 1.0);
  for (const int wave : {1, 2}) {
    x.push_back(std::sin(wave * turn));
    x.push_back(std::cos(wave * turn));
  }
  x.push_back(off ? 1 : 0);
  x.push_back(off_then ? 1 : 0);
}

}  // namespace

void History::add(double value) {
  values_.push_back(value);
  sums_.push_back(sums_.back() + value);
}

double History::mean(std::size_t last, std::size_t count) const {
  const std::size_t begin = last + 1 - std::min(last + 1, count);
  return (sums_[last + 1] - sums_[begin]) / static_cast<double>(last + 1 - begin);
}

std::vector<double> features(const History& history, const Moment& moment,
                             const Calendar& calendar) {
  std::vector<double> x;
  add_recent(x, history, moment.day);
  add_earlier_days(x, history, moment, calendar);
  return x;
}

}  // namespace almanac::energy
