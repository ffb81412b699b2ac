// SPDX-License-Identifier: Apache-2.0
#include "capacity/goal.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/duration.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::capacity {
namespace {

constexpr std::string_view kMeasures[] = {"wait", "completion", "slowdown"};

/// Sets the statistic called `word`. Returns whether there is one.
bool read_statistic(const std::string& word, Goal& goal) {
  if (word == "mean") return true;
  if (word == "median") return goal.quantile = 0.5, true;
  if (word == "max") return goal.quantile = 1.0, true;
  if (!word.starts_with('p')) return false;
  const auto percent = text::parse_decimal(word.substr(1));
  if (!percent || *percent <= 0 || *percent > 100) return false;
  goal.quantile = *percent / 100;
  return true;
}

bool read_measure(const std::string& word, Goal& goal) {
  const auto* const found = std::find(std::begin(kMeasures), std::end(kMeasures), word);
  if (found == std::end(kMeasures)) return false;
  goal.measure = static_cast<Measure>(found - std::begin(kMeasures));
  return true;
}

bool read_bound(const std::string& word, Goal& goal) {
  if (goal.measure == Measure::slowdown) {
    const auto ratio = text::parse_decimal(word);
    if (!ratio || *ratio < 1) return false;
    goal.bound = *ratio;
    return goal.bound > 1 || goal.inclusive;  // nothing is below 1
  }
  const auto time = text::parse_duration(word);
  if (!time || *time < Duration{0} || *time == text::kUnlimited) return false;
  goal.bound = seconds(*time);
  return goal.bound > 0 || goal.inclusive;  // nothing is below 0
}

}  // namespace

double Goal::measured(Duration waited, Duration completion, Duration run) const {
  if (measure == Measure::wait) return seconds(waited);
  if (measure == Measure::completion) return seconds(completion);
  return std::max(1.0, seconds(completion) / std::max(10.0, seconds(run)));
}

double Goal::statistic(std::span<double> values) const {
  return quantile ? stats::quantile(values, *quantile) : stats::mean(values);
}

std::string Goal::name() const {
  const std::string which = !quantile          ? "mean"
                            : *quantile == 0.5 ? "median"
                            : *quantile == 1.0 ? "max"
                                               : fmt::format("p{:.6g}", 100 * *quantile);
  return fmt::format("{} {}", which, kMeasures[static_cast<std::size_t>(measure)]);
}

std::string Goal::text() const {
  return fmt::format("{} {} {}", name(), inclusive ? "<=" : "<", shown(bound));
}

std::string Goal::shown(double value) const {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return "never";
  return measure == Measure::slowdown ? fmt::format("{:.2f}", value) : text::human_time(value);
}

Result<Goal> parse_goal(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::usage,
                fmt::format("a goal is mean|median|pNN|max, then wait|completion|slowdown, then < "
                            "and a time or (for slowdown) a number, found \"{}\"",
                            text),
                {}, "such as 'p90 wait < 1h' or 'mean slowdown < 3'");
  };
  const std::size_t sign = text.find('<');
  if (sign == std::string_view::npos) return bad();
  Goal goal{.inclusive = text.substr(sign).starts_with("<=")};
  std::istringstream left{std::string(text.substr(0, sign))};
  std::istringstream right{std::string(text.substr(sign + (goal.inclusive ? 2 : 1)))};
  std::string statistic;
  std::string measure;
  std::string bound;
  std::string more;
  left >> statistic >> measure;
  right >> bound;
  if (left >> more || right >> more) return bad();
  if (!read_statistic(statistic, goal) || !read_measure(measure, goal) ||
      !read_bound(bound, goal)) {
    return bad();
  }
  return goal;
}

}  // namespace almanac::capacity
