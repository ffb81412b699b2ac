// SPDX-License-Identifier: Apache-2.0
#include "energy/forecaster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "stats/quantile.h"

namespace almanac::energy {
namespace {

constexpr std::array<double, 3> kRidges = {0.003, 0.03, 0.3};
constexpr std::array<double, 4> kParts = {0.25, 0.5, 0.75, 1};
// Days over which losses fade to 1/e, and that errors are kept for quantiles.
constexpr double kFadeDays = 10;
constexpr double kErrorDays = 10;
// How much the better experts outweigh the others.
constexpr double kSharpness = 15;
// The mixture answers while its loss is not above this part of persistence's.
constexpr double kPatience = 1.01;
constexpr std::size_t kFewestRows = 100;
// Lines are fitted every day at first, then every week.
constexpr std::size_t kDailyFits = 21;
// What lies further back is not learnt from.
constexpr std::size_t kMemoryDays = 84;
// How fast a quantile that is met too often or too rarely moves.
constexpr double kCoverageGain = 0.003;
constexpr double kOutermostLevel = 0.002;

}  // namespace

Forecaster::Forecaster(ForecastOptions options)
    : options_(std::move(options)),
      day_(std::max<std::size_t>(1, static_cast<std::size_t>(24h / options_.step))),
      filter_(day_),
      sums_(1, 0.0),
      losses_(1 + kRidges.size() * kParts.size(), 0.0),
      shifts_(options_.levels.size(), 0.0) {
  ALMANAC_CHECK(options_.horizon > 0, "a horizon of no step");
}

void Forecaster::observe(double value, std::span<const double> known) {
  const bool out = filter_.is_outage(value);
  whole_ = whole_ && (out || value == std::round(value));
  out_.push_back(out ? 1 : 0);
  values_.push_back(!out ? value : values_.empty() ? 0 : values_.back());
  sums_.push_back(sums_.back() + values_.back());
  if (values_.size() > options_.horizon) {
    const double before = values_[values_.size() - 1 - options_.horizon];
    moves_.push_back((moves_.empty() ? 0 : moves_.back()) + std::abs(values_.back() - before));
  }
  add_features(known);
  learn();
  const std::size_t days = values_.size() / day_;
  if (values_.size() % day_ == 0 && (days <= kDailyFits || days % 7 == 0)) refit();
  predict();
}

double Forecaster::mean_back(std::size_t from, std::size_t count) const {
  const std::size_t begin = from + 1 - std::min(from + 1, count);
  return (sums_[from + 1] - sums_[begin]) / static_cast<double>(from + 1 - begin);
}

double Forecaster::target_of(std::size_t origin) const {
  const auto first = values_.begin() + static_cast<std::ptrdiff_t>(origin) + 1;
  const auto last = first + static_cast<std::ptrdiff_t>(options_.horizon);
  switch (options_.target) {
    case Target::value:
      return values_[origin + options_.horizon];
    case Target::mean:
      return mean_back(origin + options_.horizon, options_.horizon);
    case Target::peak:
      return *std::max_element(first, last);
  }
  return 0;
}

bool Forecaster::is_known(std::size_t origin) const {
  return out_[origin] == 0 && out_[origin + options_.horizon] == 0;
}

void Forecaster::add_features(std::span<const double> known) {
  ALMANAC_CHECK(known.size() == options_.known, "{} values instead of {}", known.size(),
                options_.known);
  const std::size_t now = values_.size() - 1;
  const double value = values_[now];
  const std::size_t hour = std::max<std::size_t>(1, day_ / 24);
  const std::size_t horizon = options_.horizon;
  std::vector<double> x;
  const auto lag = [&](std::size_t steps) { return values_[now - std::min(now, steps)]; };
  for (const std::size_t steps :
       {std::size_t{1}, hour / 2, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day_, 7 * day_}) {
    x.push_back(now >= steps ? value - lag(steps) : 0);
  }
  for (const std::size_t steps : {hour, 3 * hour, 12 * hour, day_, 3 * day_, 7 * day_}) {
    x.push_back(mean_back(now, steps) - value);
  }
  for (const std::size_t steps : {3 * hour, day_}) {
    const auto end = values_.end();
    const auto begin = end - static_cast<std::ptrdiff_t>(std::min(values_.size(), steps));
    x.push_back(*std::max_element(begin, end) - value);
    x.push_back(*std::min_element(begin, end) - value);
  }
  // What followed at this time of earlier days: of all, of those alike, of a week ago.
  const Time at = options_.start + options_.step * static_cast<std::int64_t>(now);
  const Time then = at + options_.step * static_cast<std::int64_t>(horizon);
  const bool off = options_.calendar.is_off(at);
  const bool off_then = options_.calendar.is_off(then);
  double all = 0;
  double alike = 0;
  int days = 0;
  int days_alike = 0;
  double yesterday = 0;
  double last_week = 0;
  for (std::size_t back = (horizon + day_ - 1) / day_; back <= 28; ++back) {
    if (now < back * day_) break;
    const std::size_t origin = now - back * day_;
    const double change = target_of(origin) - values_[origin];
    const auto ago = 24h * static_cast<std::int64_t>(back);
    if (back <= 7) {
      all += change;
      ++days;
    }
    if (days_alike < 10 && options_.calendar.is_off(at - ago) == off &&
        options_.calendar.is_off(then - ago) == off_then) {
      alike += change;
      ++days_alike;
    }
    if (days == 1 && back <= 7) yesterday = change;
    if (back % 7 == 0 && back <= 14 && last_week == 0) last_week = change;
  }
  x.push_back(days > 0 ? all / days : 0);
  x.push_back(days_alike > 0 ? alike / days_alike : 0);
  x.push_back(yesterday);
  x.push_back(last_week);
  // How far today is from the usual at this time.
  double usual = 0;
  int usual_days = 0;
  for (std::size_t back = 1; back <= 7 && back * day_ <= now; ++back) {
    usual += values_[now - back * day_];
    ++usual_days;
  }
  x.push_back(usual_days > 0 ? usual / usual_days - value : 0);
  const double turn = 2 * std::numbers::pi * std::fmod(seconds(at) / 86400, 1.0);
  for (const int wave : {1, 2, 3}) {
    x.push_back(std::sin(wave * turn));
    x.push_back(std::cos(wave * turn));
  }
  x.push_back(off ? 1 : 0);
  x.push_back(off_then ? 1 : 0);
  x.push_back(off ? std::sin(turn) : 0);
  x.push_back(off ? std::cos(turn) : 0);
  x.insert(x.end(), known.begin(), known.end());
  features_.width = x.size();
  features_.add(x);
}

/// The target of the forecast made `horizon` ago is known now.
void Forecaster::learn() {
  const std::size_t now = values_.size() - 1;
  if (now < options_.horizon) return;
  const std::size_t origin = now - options_.horizon;
  if (!is_known(origin)) return;
  const Pending& made = pending_[origin];
  const double truth = target_of(origin);
  const double value = values_[origin];
  const double fade = std::exp(-1 / (kFadeDays * static_cast<double>(day_)));
  const auto note = [&](double& mean, double loss) { mean = mean * fade + loss * (1 - fade); };
  for (std::size_t expert = 0; expert < losses_.size(); ++expert) {
    note(losses_[expert], loss(value + made.changes[expert], truth));
  }
  note(mixture_loss_, loss(made.centre, truth));
  errors_.push_back((truth - made.centre) / made.scale);
  for (std::size_t level = 0; level < shifts_.size(); ++level) {
    const double met = truth <= made.quantiles[level] ? 1 : 0;
    const double wanted = options_.levels[level];
    shifts_[level] = std::clamp(shifts_[level] + kCoverageGain * (wanted - met),
                                kOutermostLevel - wanted, 1 - kOutermostLevel - wanted);
  }
}

void Forecaster::refit() {
  const std::size_t now = values_.size() - 1;
  if (now < options_.horizon + day_ / 2) return;
  std::vector<std::size_t> rows;
  std::vector<double> y;
  std::vector<double> weights;
  const std::size_t first = now - std::min(now - day_ / 2, kMemoryDays * day_);
  for (std::size_t origin = first; origin + options_.horizon <= now; ++origin) {
    if (!is_known(origin)) continue;
    const double truth = target_of(origin);
    rows.push_back(origin);
    y.push_back(truth - values_[origin]);
    weights.push_back(1 / std::max(1.0, truth + values_[origin]));
  }
  if (rows.size() < kFewestRows) return;
  lines_.clear();
  for (const double ridge : kRidges)
    lines_.push_back(fit_median(features_, rows, y, weights, ridge));
}

void Forecaster::predict() {
  const std::size_t now = values_.size() - 1;
  const double value = values_[now];
  Pending made;
  made.changes.assign(losses_.size(), 0.0);
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const double change = lines_[line](features_.row(now));
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      made.changes[1 + line * kParts.size() + part] = kParts[part] * change;
    }
  }
  made.centre = std::max(0.0, value + mixed(made.changes));
  made.scale = restlessness();
  const bool worse = mixture_loss_ > kPatience * losses_.front();
  const double answer = worse ? value : made.centre;
  forecast_ = {.median = whole_ ? std::round(answer) : answer, .quantiles = quantiles(made)};
  made.quantiles = forecast_.quantiles;
  pending_.push_back(std::move(made));
}

/// Half of the symmetric relative error; of whole numbers where the series has only those.
double Forecaster::loss(double expected, double truth) const {
  if (whole_) expected = std::round(expected);
  const double size = std::abs(expected) + std::abs(truth);
  return size > 0 ? std::abs(expected - truth) / size : 0;
}

/// The experts' changes, weighed by how little worse than the best each has been.
double Forecaster::mixed(const std::vector<double>& changes) const {
  const double best = *std::min_element(losses_.begin(), losses_.end());
  double sum = 0;
  double weights = 0;
  for (std::size_t expert = 0; expert < losses_.size(); ++expert) {
    const double weight = best > 0 ? std::exp(-kSharpness * (losses_[expert] / best - 1)) : 1;
    sum += weight * changes[expert];
    weights += weight;
  }
  return sum / weights;
}

/// What changes of the past day and of all time over the horizon let expect of errors; > 0.
double Forecaster::restlessness() const {
  const std::size_t now = values_.size() - 1;
  const std::size_t horizon = options_.horizon;
  double all = 0;
  double today = 0;
  if (now >= horizon) {
    all = moves_.back() / static_cast<double>(moves_.size());
    const std::size_t recent = std::min(moves_.size() - 1, day_);
    if (recent > 0) {
      today = (moves_.back() - moves_[moves_.size() - 1 - recent]) / static_cast<double>(recent);
    }
  }
  return 1 + std::sqrt(all * today);
}

std::vector<double> Forecaster::quantiles(const Pending& made) const {
  const auto kept = static_cast<std::size_t>(kErrorDays * static_cast<double>(day_));
  const auto newest = static_cast<std::ptrdiff_t>(std::min(errors_.size(), kept));
  std::vector<double> errors(errors_.end() - newest, errors_.end());
  std::sort(errors.begin(), errors.end());
  std::vector<double> quantiles;
  for (std::size_t level = 0; level < shifts_.size(); ++level) {
    const double wanted = options_.levels[level] + shifts_[level];
    const double error = errors.empty() ? 0 : stats::quantile_sorted(errors, wanted);
    quantiles.push_back(std::max(0.0, made.centre + error * made.scale));
  }
  std::sort(quantiles.begin(), quantiles.end());
  return quantiles;
}

}  // namespace almanac::energy
