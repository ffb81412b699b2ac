// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy for jobs and services together.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "inference/scaler.h"
#include "policy/contract/contract.h"

namespace almanac::policy {

/// Lets `jobs` decide about jobs, replicas included, and a scaler about the number of replicas of
/// each service. `jobs` does not notice: it is woken only when it requested that.
///
/// A service without further requests gets no replicas and is ignored from then on.
class Serving final : public Policy {
 public:
  /// Takes one scaler per service of the view, in its order.
  Serving(std::unique_ptr<Policy> jobs, std::vector<std::unique_ptr<inference::Scaler>> scalers);

  void decide(std::span<const Event> events, const View& view, Plan& plan) override;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    return jobs_->why_waiting(job, view, ledger);
  }
  void line_up(std::vector<JobId>& line) const override { jobs_->line_up(line); }

 private:
  struct Scaled {
    std::unique_ptr<inference::Scaler> scaler;
    Time next = Time::min();  ///< Next call; kNever if there is none.
  };

  std::unique_ptr<Policy> jobs_;
  std::vector<Scaled> services_;
  Time began_ = kNoTime;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;  // requested by jobs_
  std::vector<Event> told_;
};

}  // namespace almanac::policy
