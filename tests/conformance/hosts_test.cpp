// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy cannot tell what asks it: hosts that give it the same facts get the same schedule, and
/// the rules of a site that concern no job change nothing.
#include "schedule/hosts.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/names.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "sim/signature.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::registry;

class EveryHost : public testing::TestWithParam<std::string> {
 protected:
  EveryHost() : day_(crowded_day_with_parts(7)), composition_(*registry().compose(GetParam())) {}

  std::unique_ptr<predict::Estimator> estimator() const {
    return *experiment::make_estimator(composition_, day_.trace);
  }
  /// What a job of each owner used before the day.
  schedule::PastUses past_use() const {
    auto made = std::make_shared<std::vector<policy::PastUse>>();
    for (const std::uint32_t job : {0U, 1U, 2U}) {
      const NameId user = day_.trace.jobs[job].request.user;
      made->push_back({.user = user, .gpu_s = 1e5 * (job + 1.0), .from = Time{-1h}, .until = {}});
    }
    return made;
  }
  std::uint64_t schedule_of(std::unique_ptr<policy::Policy> policy) const {
    sim::Options options = day_.options;
    options.policy = composition_.name;
    return sim::signature(day_.trace, sim::simulate(day_.trace, day_.cluster, *policy, options));
  }

  Case day_;
  policy::Composition composition_;
  /// Rules that a site has, and that no job of the day comes under.
  schedule::SiteRules idle_rules_{.age_cap = kNoDuration, .is_kept = [](JobId) { return false; }};
};

TEST_P(EveryHost, GetsTheScheduleOfTheSimulation) {
  const std::uint64_t simulated = schedule_of(schedule::make_policy(
      composition_,
      schedule::SimulatedHost{
          .estimator = estimator(), .binds = false, .learns_types = false, .site = {}}));
  EXPECT_EQ(schedule_of(schedule::make_policy(
                composition_,
                schedule::PlayedHost{.estimator = estimator(), .past_use = nullptr, .site = {}},
                schedule::kNoSiteRules)),
            simulated);
  EXPECT_EQ(schedule_of(schedule::make_policy(composition_,
                                              schedule::RealHost{.estimator = estimator(),
                                                                 .past_use = nullptr,
                                                                 .past_reports = {},
                                                                 .type_speeds = nullptr,
                                                                 .may_share = {},
                                                                 .is_on = {},
                                                                 .site = {}},
                                              idle_rules_)),
            simulated);
}

TEST_P(EveryHost, PlaysWithThePastAsTheRealOneRuns) {
  EXPECT_EQ(schedule_of(schedule::make_policy(
                composition_,
                schedule::PlayedHost{.estimator = estimator(), .past_use = past_use(), .site = {}},
                schedule::kNoSiteRules)),
            schedule_of(schedule::make_policy(composition_,
                                              schedule::RealHost{.estimator = estimator(),
                                                                 .past_use = past_use(),
                                                                 .past_reports = {},
                                                                 .type_speeds = nullptr,
                                                                 .may_share = {},
                                                                 .is_on = {},
                                                                 .site = {}},
                                              idle_rules_)));
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryHost, testing::ValuesIn(named_policies()), test_name);

/// What an owner used before counts, whoever asks.
TEST(FairShare, HearsOfThePastFromHostsThatPlay) {
  const Case day = crowded_day(7);
  const policy::Composition composition = *registry().compose("fair_share");
  const auto first_user = day.trace.jobs.front().request.user;
  const auto signature_with = [&](schedule::PastUses past_use) {
    const auto policy = schedule::make_policy(
        composition,
        schedule::PlayedHost{.estimator = *experiment::make_estimator(composition, day.trace),
                             .past_use = std::move(past_use),
                             .site = {}},
        schedule::kNoSiteRules);
    sim::Options options = day.options;
    options.policy = composition.name;
    return sim::signature(day.trace, sim::simulate(day.trace, day.cluster, *policy, options));
  };
  const auto used = std::make_shared<const std::vector<policy::PastUse>>(
      std::vector<policy::PastUse>{{.user = first_user, .gpu_s = 1e6, .from = Time{-1h}}});
  EXPECT_NE(signature_with(used), signature_with(nullptr));
}

}  // namespace
}  // namespace almanac
