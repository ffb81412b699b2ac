// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shares one policy host among several policies, used one after another or together. The estimator
/// is asked once per job, and all policies get the same answer.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "policy/contract/host.h"
#include "predict/estimator.h"

namespace almanac::policy {

class SharedHost {
 public:
  explicit SharedHost(Host host)
      : beliefs_(std::make_shared<Beliefs>(std::move(host.estimator))), host_(std::move(host)) {}

  /// Returns the host for one more policy.
  Host lend() const {
    // Names every field, so that one more does not compile until it is lent too.
    const auto& [estimator, may_share, is_on, mix, binds, past_use, past_reports, type_speeds,
                 site] = host_;
    return {.estimator = beliefs_->estimator ? std::make_unique<Lent>(beliefs_) : nullptr,
            .may_share = may_share,
            .is_on = is_on,
            .mix = mix,
            .binds = binds,
            .past_use = past_use,
            .past_reports = past_reports,
            .type_speeds = type_speeds,
            .site = site};
  }
  /// Forgets the estimate of a job that is over.
  void forget(JobId job) { beliefs_->known.erase(job); }

 private:
  struct Beliefs {
    explicit Beliefs(std::unique_ptr<predict::Estimator> asked) : estimator(std::move(asked)) {}

    std::unique_ptr<predict::Estimator> estimator;  // null without estimates
    std::map<JobId, predict::Belief> known{};
  };

  class Lent final : public predict::Estimator {
   public:
    explicit Lent(std::shared_ptr<Beliefs> beliefs) : beliefs_(std::move(beliefs)) {}

    predict::Belief estimate(JobId job, const trace::Request& request) override {
      const auto [known, is_new] = beliefs_->known.try_emplace(job);
      if (is_new) known->second = beliefs_->estimator->estimate(job, request);
      return known->second;
    }
    void watch(JobId job, const trace::Request& request) override {
      beliefs_->estimator->watch(job, request);
    }
    void learn(JobId job, const trace::Request& request, const predict::Ended& ended) override {
      beliefs_->estimator->learn(job, request, ended);
    }
    void answer_at_once(Time now) override { beliefs_->estimator->answer_at_once(now); }

   private:
    std::shared_ptr<Beliefs> beliefs_;
  };

  std::shared_ptr<Beliefs> beliefs_;
  Host host_;  // its estimator is in beliefs_
};

}  // namespace almanac::policy
