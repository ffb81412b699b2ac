// SPDX-License-Identifier: Apache-2.0
#include "predict/regret.h"

#include <algorithm>
#include <cmath>

namespace almanac::predict {

std::string_view name_of(Predictor predictor) {
  switch (predictor) {
    case Predictor::limit:
      return "limit";
    case Predictor::history:
      return "history";
    case Predictor::learned:
      return "learned";
    case Predictor::steps:
      return "steps";
    case Predictor::given:
      return "given";
  }
  return "";
}

double Regret::stake_of(const Record& one, const Record& other) const {
  return std::min(std::abs(static_cast<double>(one.took - other.took)), gpu_s_.value());
}

void Regret::add(const Record& job) {
  constexpr std::size_t kLast = 64;
  constexpr double kFade = 0.998;
  gpu_s_.add(static_cast<double>(job.took), kFade);
  for (std::size_t of = 0; of < kPredictors; ++of) {
    if (std::isnan(job.said[of])) continue;
    Fading now;
    for (const Record& other : last_) {
      if (std::isnan(other.said[of])) continue;
      const double stake = stake_of(job, other);
      const bool is_right = (job.said[of] < other.said[of]) == (job.took < other.took);
      ++now.answers;
      now.at_stake += stake;
      now.lost += stake * (job.said[of] == other.said[of] ? 0.5 : is_right ? 0 : 1);
    }
    Fading& before = regrets_[of];
    before = {.lost = kFade * before.lost + now.lost,
              .at_stake = kFade * before.at_stake + now.at_stake,
              .answers = kFade * before.answers + now.answers};
  }
  last_.push_back(job);
  if (last_.size() > kLast) last_.pop_front();
}

double Regret::of(Predictor predictor) const {
  constexpr double kEnough = 2'000;
  const Fading& regret = regrets_[static_cast<std::size_t>(predictor)];
  if (regret.answers < kEnough || regret.at_stake <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return regret.lost / regret.at_stake;
}

Predictor Regret::choose(const std::array<bool, kPredictors>& speak) {
  constexpr double kClearly = 0.95;
  const auto regret = [&](Predictor predictor) {
    return (predictor == believed_ ? kClearly : 1) * of(predictor);
  };
  const auto speaks = [&](Predictor each) { return speak[static_cast<std::size_t>(each)]; };
  Predictor best = speaks(Predictor::given)   ? Predictor::given
                   : speaks(Predictor::limit) ? Predictor::limit
                   : speaks(Predictor::steps) ? Predictor::steps
                                              : Predictor::history;  // it always speaks
  for (const Predictor each :
       {Predictor::limit, Predictor::history, Predictor::learned, Predictor::steps}) {
    if (speaks(each) && regret(each) < regret(best)) best = each;
  }
  believed_ = best;
  return best;
}

}  // namespace almanac::predict
