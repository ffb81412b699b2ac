// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cost of the decisions of several predictors: which of them orders jobs best.
///
/// A scheduler that runs the job with the least expected GPU time first needs to know which of
/// two jobs is smaller. If the answer is wrong, one of them waits for the difference of their true
/// GPU times in vain (Smith's exchange argument). This difference is at stake in each answer,
/// capped at the mean GPU time of the jobs: a pair with a job of a month would otherwise outweigh
/// the other pairs of a week. Regret is the fraction of what was at stake that wrong answers lost.
/// A predictor that calls both jobs equal loses half.
///
/// Source   Smith, Naval Research Logistics Quarterly 1956 (the exchange argument); Herbster &
///          Warmuth, Machine Learning 1998 (experts with decaying records).
/// Cost     64 comparisons per predictor and ended job
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <string_view>

#include "predict/mean_table.h"

namespace almanac::predict {

/// Predictors. While none has a record, `given` comes before `limit`, `limit` before `steps`, and
/// `steps` before `history`.
enum class Predictor : std::uint8_t { limit, history, learned, steps, given };
inline constexpr std::size_t kPredictors = 5;
std::string_view name_of(Predictor predictor);

class Regret {
 public:
  /// Value for a predictor that did not predict a job.
  static constexpr float kSilent = std::numeric_limits<float>::quiet_NaN();
  /// Predicted and true GPU-seconds of one job.
  struct Record {
    std::array<float, kPredictors> said{};
    float took = 0;
  };

  /// Compares the predictions for an ended job with those for each of the last 64 jobs.
  void add(const Record& job);
  /// Returns the decaying regret of an answer, 0 .. 1; infinity with too few answers.
  double of(Predictor predictor) const;
  /// Returns the predictor to use among those that predict a job (`speak`). Switches from the last
  /// one only if the regret of another is at least 5 % lower.
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
