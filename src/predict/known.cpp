// SPDX-License-Identifier: Apache-2.0

/// \file
/// Estimators that read the answer from the job record.
#include <algorithm>

#include "base/check.h"
#include "predict/estimator.h"

namespace almanac::predict {
namespace {

class Oracle final : public Estimator {
 public:
  explicit Oracle(const std::vector<trace::Job>& jobs) : jobs_(jobs) {}
  Belief estimate(JobId job, const trace::Request&) override {
    return {.run = jobs_[index(job)].outcome.run};
  }

 private:
  const std::vector<trace::Job>& jobs_;
};

class Given final : public Estimator {
 public:
  Belief estimate(JobId job, const trace::Request& request) override {
    ALMANAC_CHECK(request.predicted != kNoDuration, "job {} has no prediction", index(job));
    return {.run = request.predicted};
  }
};

class Limit final : public Estimator {
 public:
  Belief estimate(JobId job, const trace::Request& request) override {
    if (request.time_limit != kNoDuration)
      return {.run = std::max(Duration{1s}, request.time_limit)};
    return history_->estimate(job, request);
  }
  void learn(JobId job, const trace::Request& request, const Ended& ended) override {
    history_->learn(job, request, ended);
  }

 private:
  std::unique_ptr<Estimator> history_ = make_history();
};

}  // namespace

std::unique_ptr<Estimator> make_oracle(const std::vector<trace::Job>& jobs) {
  return std::make_unique<Oracle>(jobs);
}
std::unique_ptr<Estimator> make_given() { return std::make_unique<Given>(); }
std::unique_ptr<Estimator> make_limit() { return std::make_unique<Limit>(); }

}  // namespace almanac::predict
