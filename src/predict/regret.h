// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the decisions of several predictors cost: which of them orders jobs best.
///
/// A scheduler that runs the job with the least expected GPU time first asks a predictor which of
/// two jobs is smaller. If the answer is wrong, one of them waits for the difference of their true
/// GPU times in vain (Smith's exchange argument). This difference is at stake in each answer,
/// capped at the mean GPU time of the jobs: a pair with a job of a month would otherwise outweigh
/// the other pairs of a week. Regret is the fraction of what was at stake that wrong answers lost.
/// A predictor that calls both jobs equal loses half.
///
/// Source   Smith, Naval Research Logistics Quarterly 1956 (the exchange argument); Herbster &
///          Warmuth, Machine Learning 1998 (experts whose record fades).
/// Cost     64 comparisons for each predictor as a job ends.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <string_view>

#include "predict/mean_table.h"

namespace almanac::predict {

/// In the order in which they are believed when none has a record.
enum class Predictor : std::uint8_t { limit, history, learned };
inline constexpr std::size_t kPredictors = 3;
std::string_view name_of(Predictor predictor);

class Regret {
 public:
  /// Stands for a predictor that said nothing of a job.
  static constexpr float kSilent = std::numeric_limits<float>::quiet_NaN();
  /// GPU seconds of one job.
  struct Record {
    std::array<float, kPredictors> said{};
    float took = 0;
  };

  /// Judges what was said of a job that ended against what was said of each of the last 64.
  void add(const Record& job);
  /// Fading, 0 .. 1; infinity = too few answers to judge by.
  double of(Predictor predictor) const;
  /// The predictor to believe of those that speak of a job. Another one than the last is chosen
  /// only if its regret is 5 % less.
  Predictor choose(const std::array<bool, kPredictors>& speak);

 private:
  struct Fading {
    double lost = 0;
    double at_stake = 0;
    double answers = 0;
  };
  /// Capped GPU seconds.
  double stake_of(const Record& one, const Record& other) const;

  std::deque<Record> last_;
  DecayingMean gpu_s_;
  std::array<Fading, kPredictors> regrets_{};
  Predictor believed_ = Predictor::limit;
};

}  // namespace almanac::predict
