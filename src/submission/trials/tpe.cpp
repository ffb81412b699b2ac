// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/tpe.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace almanac::trials {
namespace {

/// The share of the trials that count as good.
constexpr double kGoodShare = 0.15;
/// Draws from the density of the good ones, of which one is taken.
constexpr int kDraws = 24;

/// A density over [0, 1): a uniform one mixed with a Gaussian, cut to [0, 1], for each point.
class Parzen {
 public:
  explicit Parzen(std::vector<double> points) : points_(std::move(points)) {
    std::sort(points_.begin(), points_.end());
    // n points spread evenly are 1/n apart.
    const double floor = 1 / (1 + std::min(100.0, static_cast<double>(points_.size())));
    for (std::size_t at = 0; at < points_.size(); ++at) {
      const double left = at == 0 ? 0 : points_[at - 1];
      const double right = at + 1 == points_.size() ? 1 : points_[at + 1];
      widths_.push_back(std::clamp(std::max(points_[at] - left, right - points_[at]), floor, 1.0));
    }
  }

  double draw(Rng& rng) const {
    const std::size_t which = rng.below(points_.size() + 1);
    if (which == points_.size()) return rng.uniform();
    // A point in [0, 1] and a width of at most 1: at least every third draw is inside.
    while (true) {
      const double drawn = points_[which] + widths_[which] * rng.normal();
      if (drawn >= 0 && drawn < 1) return drawn;
    }
  }

  double at(double place) const {
    double sum = 1;
    for (std::size_t each = 0; each < points_.size(); ++each) {
      const double width = widths_[each];
      const double off = (place - points_[each]) / width;
      const double inside = below((1 - points_[each]) / width) - below(-points_[each] / width);
      sum += std::exp(-off * off / 2) / (width * std::sqrt(2 * std::numbers::pi) * inside);
    }
    return sum / static_cast<double>(points_.size() + 1);
  }

 private:
  static double below(double at) { return std::erfc(-at / std::numbers::sqrt2) / 2; }

  std::vector<double> points_;
  std::vector<double> widths_;
};

/// Takes the best of the draws from `good`.
template <class Density, class Value>
Value best_of(const Density& good, const Density& other, Rng& rng, Value none) {
  Value best = none;
  double best_ratio = -1;
  for (int each = 0; each < kDraws; ++each) {
    const Value drawn = good.draw(rng);
    const double ratio = good.at(drawn) / other.at(drawn);
    if (ratio > best_ratio) {
      best = drawn;
      best_ratio = ratio;
    }
  }
  return best;
}

/// The chance of each choice: one more than the number of trials that had it.
class Counts {
 public:
  Counts(std::size_t choices, const std::vector<std::size_t>& taken) : counts_(choices, 1) {
    for (const std::size_t each : taken) counts_[each] += 1;
    all_ = choices + taken.size();
  }

  std::size_t draw(Rng& rng) const {
    std::uint64_t left = rng.below(all_);
    std::size_t choice = 0;
    while (left >= counts_[choice]) left -= counts_[choice++];
    return choice;
  }
  double at(std::size_t choice) const {
    return static_cast<double>(counts_[choice]) / static_cast<double>(all_);
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t all_ = 0;
};

/// The values of parameter `at` in the trials, as `as` reads them.
template <class As>
auto column(std::span<const Measured> trials, std::size_t at, const As& as) {
  std::vector<decltype(as(std::string()))> made;
  for (const Measured& each : trials) made.push_back(as(each.trial.values[at]));
  return made;
}

}  // namespace

Trial suggest(const Space& space, std::span<const Measured> earlier, std::int64_t number) {
  if (std::ssize(earlier) < kFirstTrials) return random_trial(space, number);
  std::vector<Measured> sorted(earlier.begin(), earlier.end());
  std::sort(sorted.begin(), sorted.end(), [&](const Measured& a, const Measured& b) {
    if (a.metric != b.metric) return (a.metric < b.metric) == space.smaller_is_better;
    return a.trial.number < b.trial.number;
  });
  const auto split =
      static_cast<std::size_t>(std::ceil(kGoodShare * static_cast<double>(sorted.size())));
  const auto good = std::span(sorted).first(split);
  const auto other = std::span(sorted).subspan(split);
  Trial made{.number = number};
  for (std::size_t at = 0; at < space.parameters.size(); ++at) {
    const Parameter& parameter = space.parameters[at];
    Rng rng = rng_of(space, number, parameter.name);
    if (const auto* const choices = std::get_if<Choices>(&parameter.values)) {
      const auto choice = [&](const std::string& value) {
        return static_cast<std::size_t>(
            std::find(choices->values.begin(), choices->values.end(), value) -
            choices->values.begin());
      };
      const std::size_t count = choices->values.size();
      made.values.push_back(
          choices->values[best_of(Counts(count, column(good, at, choice)),
                                  Counts(count, column(other, at, choice)), rng, std::size_t{0})]);
    } else {
      const Range& range = std::get<Range>(parameter.values);
      const auto part = [&](const std::string& value) { return part_of(range, value); };
      made.values.push_back(value_at(range, best_of(Parzen(column(good, at, part)),
                                                    Parzen(column(other, at, part)), rng, 0.0)));
    }
  }
  return made;
}

}  // namespace almanac::trials
