// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whole policies leave virtual clusters as they are where nothing has happened. What they decide
/// is what they would decide if they dealt all of them out each time.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "sim/signature.h"

namespace almanac {
namespace {

/// Makes a policy deal out each virtual cluster that has jobs when it is woken, or each time: tells
/// it that something has changed in each of them.
class DealsAllOut final : public policy::Policy {
 public:
  DealsAllOut(policy::Policy& policy, bool each_time) : policy_(policy), each_time_(each_time) {}

  void decide(std::span<const policy::Event> events, const policy::View& view,
              policy::Plan& plan) override {
    using policy::EventKind;
    std::vector<policy::Event> told(events.begin(), events.end());
    bool is_woken = each_time_;
    for (const policy::Event& event : events) {
      if (event.kind == EventKind::job_arrived) jobs_.push_back(JobId{event.subject});
      is_woken = is_woken || event.kind == EventKind::timer;
    }
    std::erase_if(jobs_, [&](JobId job) {
      const policy::Phase phase = view.progress(job).phase;
      return phase != policy::Phase::waiting && phase != policy::Phase::running;
    });
    for (std::uint32_t vc = 0; is_woken && vc < view.cluster.vcs.size(); ++vc) {
      const auto is_here = [&](JobId job) { return index(view.progress(job).vc) == vc; };
      if (std::any_of(jobs_.begin(), jobs_.end(), is_here)) {
        told.push_back({EventKind::capacity_changed, vc});
      }
    }
    std::stable_sort(told.begin(), told.end(),
                     [](const auto& a, const auto& b) { return a.kind < b.kind; });
    policy_.decide(told, view, plan);
  }
  policy::Reason why_waiting(JobId job, const policy::View& view,
                             cluster::Ledger& ledger) const override {
    return policy_.why_waiting(job, view, ledger);
  }
  void line_up(std::vector<JobId>& line) const override { policy_.line_up(line); }

 private:
  policy::Policy& policy_;
  bool each_time_;
  std::vector<JobId> jobs_;  // that wait or run
};

class EveryWholePolicy : public testing::TestWithParam<std::string> {
 protected:
  static std::uint64_t played(const Case& day, bool deals_all_out) {
    const auto composition = policy::registry().compose(GetParam());
    sim::Options options{.policy = GetParam()};
    const auto policy = experiment::make_policy(
        {.composition = *composition, .restart = options.restart}, day.trace);
    // It places jobs itself, and a full deal is one at each decision.
    DealsAllOut all(**policy, GetParam() == "antman");
    policy::Policy& asked = deals_all_out ? static_cast<policy::Policy&>(all) : **policy;
    return sim::signature(day.trace, sim::simulate(day.trace, day.cluster, asked, options));
  }
};

TEST_P(EveryWholePolicy, DecidesAsIfItDealtAllOutEachTime) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const auto day : {crowded_day, crowded_day_with_cores, crowded_day_with_parts}) {
      const Case made = day(seed);
      EXPECT_EQ(played(made, false), played(made, true)) << "seed " << seed;
    }
  }
}

/// All but hived, which serves all virtual clusters each time: its cells take a word of changed
/// capacity for more than a reason to look again.
std::vector<std::string> whole_policies() {
  std::vector<std::string> names;
  for (const policy::Entry& each : policy::registry().wholes.entries()) {
    if (std::string(each.name) != "hived") names.push_back(each.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryWholePolicy, testing::ValuesIn(whole_policies()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace almanac
