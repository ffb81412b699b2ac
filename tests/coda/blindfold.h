// SPDX-License-Identifier: Apache-2.0

/// \file
/// Hides from a policy what a service would not have measured: some jobs, or all until a time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac {

/// What a simulation tells, as far as it is known.
class Glimpse final : public policy::Telemetry {
 public:
  using Known = std::function<bool(JobId, Time)>;
  explicit Glimpse(Known known) : known_(std::move(known)) {}

  void open(const policy::View& view) {
    whole_ = view.telemetry;
    now_ = view.now;
  }
  std::optional<double> gpu_use(JobId job) const override {
    return known_(job, now_) ? whole_->gpu_use(job) : std::nullopt;
  }
  bool will_know_gpu_use(JobId) const override { return false; }
  std::optional<double> bandwidth_gbs(JobId job) const override {
    return known_(job, now_) ? whole_->bandwidth_gbs(job) : std::nullopt;
  }
  std::optional<double> bandwidth_gbs(NodeId node) const override {
    return known_(kNoJob, now_) ? whole_->bandwidth_gbs(node) : std::nullopt;
  }
  Duration renewed_every() const override { return 5s; }
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }

 private:
  Known known_;  // kNoJob asks for nodes
  const policy::Telemetry* whole_ = nullptr;
  Time now_{};
};

class Blindfold final : public policy::Policy {
 public:
  Blindfold(policy::Policy& policy, Glimpse::Known known)
      : policy_(policy), glimpse_(std::move(known)) {}

  void decide(std::span<const policy::Event> events, const policy::View& view,
              policy::Plan& plan) override {
    policy_.decide(events, dimmed(view), plan);
  }
  policy::Reason why_waiting(JobId job, const policy::View& view,
                             cluster::Ledger& ledger) const override {
    return policy_.why_waiting(job, dimmed(view), ledger);
  }
  void line_up(std::vector<JobId>& line) const override { policy_.line_up(line); }

 private:
  policy::View dimmed(const policy::View& view) const {
    glimpse_.open(view);
    policy::View made = view;
    made.telemetry = &glimpse_;
    return made;
  }

  policy::Policy& policy_;
  mutable Glimpse glimpse_;
};

}  // namespace almanac
