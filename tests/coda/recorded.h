// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks over a policy's shoulder at each decision.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "policy/contract/contract.h"

namespace almanac {

class Watched final : public policy::Policy {
 public:
  /// Called before each decision and after it.
  using Look = std::function<void(const policy::View&, const policy::Plan&)>;

  Watched(policy::Policy& policy, Look before, Look after)
      : policy_(policy), before_(std::move(before)), after_(std::move(after)) {}

  void decide(std::span<const policy::Event> events, const policy::View& view,
              policy::Plan& plan) override {
    before_(view, plan);
    policy_.decide(events, view, plan);
    after_(view, plan);
  }
  policy::Reason why_waiting(JobId job, const policy::View& view,
                             cluster::Ledger& ledger) const override {
    return policy_.why_waiting(job, view, ledger);
  }
  void line_up(std::vector<JobId>& line) const override { policy_.line_up(line); }

 private:
  policy::Policy& policy_;
  Look before_;
  Look after_;
};

}  // namespace almanac
