// SPDX-License-Identifier: Apache-2.0
#include "predict/regret.h"

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
  }
  return "";
}

void Regret::add(const Record& job) {
  constexpr std::size_t kLast = 64;
  constexpr double kFade = 0.998;
  for (std::size_t of = 0; of < kPredictors; ++of) {
    if (std::isnan(job.said[of])) continue;
    Fading now;
    for (const Record& other : last_) {
      if (std::isnan(other.said[of])) continue;
      ++now.answers;
      const float differ = std::abs(job.took - other.took);
      const bool is_right = (job.said[of] < other.said[of]) == (job.took < other.took);
      const double wrong = job.said[of] == other.said[of] ? 0.5 : is_right ? 0 : 1;
      if (differ > 0) now.sum += wrong * static_cast<double>(differ / (job.took + other.took));
    }
    regrets_[of].sum = kFade * regrets_[of].sum + now.sum;
    regrets_[of].answers = kFade * regrets_[of].answers + now.answers;
  }
  last_.push_back(job);
  if (last_.size() > kLast) last_.pop_front();
}

double Regret::of(Predictor predictor) const {
  constexpr double kEnough = 500;
  const Fading& regret = regrets_[static_cast<std::size_t>(predictor)];
  if (regret.answers < kEnough) return std::numeric_limits<double>::infinity();
  return regret.sum / regret.answers;
}

Predictor Regret::choose(const std::array<bool, kPredictors>& speak) {
  constexpr double kClearly = 0.95;
  const auto regret = [&](Predictor predictor) {
    return (predictor == believed_ ? kClearly : 1) * of(predictor);
  };
  // History always speaks.
  Predictor best = speak[0] ? Predictor::limit : Predictor::history;
  for (const Predictor each : {Predictor::history, Predictor::learned}) {
    if (speak[static_cast<std::size_t>(each)] && regret(each) < regret(best)) best = each;
  }
  believed_ = best;
  return best;
}

}  // namespace almanac::predict
