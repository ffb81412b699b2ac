// SPDX-License-Identifier: Apache-2.0

/// \file
/// Believes the given run time of each job, and learns nothing.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "predict/estimator.h"

namespace almanac::forecast {

class TellingEstimator final : public predict::Estimator {
 public:
  struct One {
    Duration run{};
    Duration bound = kNoDuration;
    const predict::Distribution* likely = nullptr;  ///< Null if there is only a number.
  };
  using Told = std::unordered_map<JobId, One>;

  explicit TellingEstimator(Told told) : told_(std::move(told)) {}

  predict::Belief estimate(JobId job, const trace::Request&) override {
    const One& one = told_.at(job);
    predict::Belief belief{.run = one.run, .bound = one.bound};
    if (one.likely != nullptr) {
      belief.distribution = std::make_unique<const predict::Distribution>(*one.likely);
    }
    return belief;
  }

 private:
  Told told_;
};

}  // namespace almanac::forecast
