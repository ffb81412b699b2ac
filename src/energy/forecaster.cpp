// SPDX-License-Identifier: Apache-2.0
#include "energy/forecaster.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "stats/quantile.h"

namespace almanac::energy {
namespace {

constexpr std::array<double, 3> kRidges = {0.01, 0.1, 1};
constexpr std::array<double, 4> kParts = {0.25, 0.5, 0.75, 1};
// Days over which losses fade to 1/e, and that errors are kept for quantiles.
constexpr double kFadeDays = 10;
constexpr double kErrorDays = 10;
// How much the better experts outweigh the others.
constexpr double kSharpness = 15;
// The mixture answers while its loss is not above this part of persistence's.
constexpr double kPatience = 1.0;
constexpr std::size_t kFewestRows = 100;
// As long as the reader of series holds a value over a gap.
constexpr Duration kShortOutage = 1h;
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
      losses_(1 + kRidges.size() * kParts.size(), 0.0),
      shifts_(options_.levels.size(), 0.0) {
  ALMANAC_CHECK(options_.horizon > 0, "a horizon of no step");
}

void Forecaster::observe(double value, std::span<const double> known) {
  const bool out = filter_.is_outage(value);
  whole_ = whole_ && (out || value == std::round(value));
  out_.push_back(out ? 1 : 0);
  if (!std::isnan(value)) measured_ = value;
  history_.add(!out ? value : history_.size() == 0 ? 0 : history_.newest());
  if (history_.size() > options_.horizon) {
    const std::size_t origin = history_.size() - 1 - options_.horizon;
    const double move = std::abs(history_.newest() - history_[origin]);
    moves_.push_back((moves_.empty() ? 0 : moves_.back()) + move);
  }
  add_features(known);
  learn();
  const std::size_t days = history_.size() / day_;
  if (history_.size() % day_ == 0 && (days <= kDailyFits || days % 7 == 0)) refit();
  predict();
  if (out) accept_outage();
}

/// What has been out for long is not expected to be back so soon. Half of the levels follow.
void Forecaster::accept_outage() {
  if (options_.step * static_cast<std::int64_t>(filter_.lasted()) <= kShortOutage) return;
  forecast_.median = std::min(forecast_.median, measured_);
  for (std::size_t level = 0; level < options_.levels.size(); ++level) {
    double& quantile = forecast_.quantiles[level];
    if (options_.levels[level] <= 0.5) quantile = std::min(quantile, measured_);
  }
}

double Forecaster::target_of(std::size_t origin) const {
  const auto first = history_.values().begin() + static_cast<std::ptrdiff_t>(origin) + 1;
  const auto last = first + static_cast<std::ptrdiff_t>(options_.horizon);
  switch (options_.target) {
    case Target::value:
      return history_[origin + options_.horizon];
    case Target::mean:
      return history_.mean(origin + options_.horizon, options_.horizon);
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
  const auto now = static_cast<std::int64_t>(history_.size()) - 1;
  std::vector<double> x = features(history_,
                                   {.at = options_.start + options_.step * now,
                                    .step = options_.step,
                                    .day = day_,
                                    .horizon = options_.horizon},
                                   options_.calendar);
  x.insert(x.end(), known.begin(), known.end());
  features_.width = x.size();
  features_.add(x);
}

/// The target of the forecast made `horizon` ago is known now.
void Forecaster::learn() {
  const std::size_t now = history_.size() - 1;
  if (now < options_.horizon) return;
  const std::size_t origin = now - options_.horizon;
  if (!is_known(origin)) return;
  const Pending& made = pending_[origin];
  const double truth = target_of(origin);
  const double value = history_[origin];
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
  const std::size_t now = history_.size() - 1;
  if (now < options_.horizon + day_ / 2) return;
  std::vector<std::size_t> rows;
  std::vector<double> y;
  std::vector<double> weights;
  const std::size_t first = now - std::min(now - day_ / 2, kMemoryDays * day_);
  for (std::size_t origin = first; origin + options_.horizon <= now; ++origin) {
    if (!is_known(origin)) continue;
    const double truth = target_of(origin);
    rows.push_back(origin);
    y.push_back(truth - history_[origin]);
    weights.push_back(1 / std::max(1.0, truth + history_[origin]));
  }
  if (rows.size() < kFewestRows) return;
  lines_.clear();
  for (const double ridge : kRidges)
    lines_.push_back(fit_median(features_, rows, y, weights, ridge));
}

void Forecaster::predict() {
  const std::size_t now = history_.size() - 1;
  const double value = history_[now];
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
  const std::size_t now = history_.size() - 1;
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
