// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that must not be stopped, and jobs of several priority tiers, under every policy.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/names.h"
#include "policy/registry.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {
namespace {

using policy::registry;

/// Every policy, and passes and packings that no named policy has.
std::vector<std::string> policies_and_parts() {
  std::vector<std::string> names = named_policies();
  for (const char* const name :
       {"fifo+scan", "fifo+relax", "fifo+defragment", "fifo+profile_first", "fifo+lease:60",
        "fifo+by_rank", "fifo+preempt:all", "srtf+preempt:all", "gittins+harmless",
        "gittins+guarded", "srtf+lifelong", "las+muri", "easy+pop:2", "las+pop:2"}) {
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> compositions() {
  std::vector<std::string> names = policies_and_parts();
  std::erase_if(names, [](const std::string& name) {
    const auto made = registry().compose(name);
    return !made || !made->whole.name.empty();
  });
  return names;
}

class EveryPolicyWithNoRequeue : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicyWithNoRequeue, StopsNoJobThatSaysNo) {
  // AntMan takes back from its guests what guaranteed jobs need.
  const bool is_exempt = GetParam() == "antman";
  std::uint32_t stops = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto day :
         {crowded_day, crowded_day_with_cores, crowded_day_with_parts, crowded_day_with_training}) {
      Case input = day(seed);
      input.policy = GetParam();
      const auto says_no = [](std::size_t job) { return job % 3 == 0; };
      for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
        input.trace.jobs[job].request.requeue =
            says_no(job) ? trace::Requeue::no : trace::Requeue::yes;
      }
      const Result<Played> played = play(input);
      ASSERT_TRUE(played) << to_string(played.error());
      EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
      for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
        if (!says_no(job)) continue;
        const std::uint32_t own = played->result.jobs[job].preemptions;
        EXPECT_TRUE(is_exempt || own == 0) << "seed " << seed << ", job " << job << ": " << own;
        stops += own;
      }
    }
  }
  if (is_exempt) {
    EXPECT_GT(stops, 0U) << "it need not be exempt";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyWithNoRequeue,
                         testing::ValuesIn(policies_and_parts()), test_name);

/// Whether two runs hold a GPU in common.
bool share_a_gpu(const Run& a, const Run& b) {
  return std::any_of(a.grants.begin(), a.grants.end(), [&](const cluster::Grant& one) {
    return std::any_of(b.grants.begin(), b.grants.end(), [&](const cluster::Grant& other) {
      return one.node == other.node && (one.gpus & other.gpus) != 0;
    });
  });
}

/// Of those, the ones that stop jobs one by one. Where all GPUs are dealt out again at a lease, or
/// parts of the cluster are kept for kinds of jobs, it cannot be seen for whom a job stops: the one
/// that takes its turn may hold other GPUs.
std::vector<std::string> compositions_that_stop_one_by_one() {
  std::vector<std::string> names = compositions();
  std::erase_if(names, [](const std::string& name) {
    const policy::TraitSet does = registry().traits(*registry().compose(name));
    return does.any_of({policy::Trait::leases, policy::Trait::parts_cluster});
  });
  return names;
}

class EveryCompositionWithTiers : public testing::TestWithParam<std::string> {};

TEST_P(EveryCompositionWithTiers, StopsNoJobForOneOfALowerTier) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case input = crowded_day(seed);
    input.policy = GetParam();
    Rng rng(seed, 5);
    for (trace::Job& job : input.trace.jobs) {
      job.request.priority_tier = static_cast<std::int32_t>(rng.below(3));
    }
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    const auto tier = [&](JobId job) { return input.trace.jobs[index(job)].request.priority_tier; };
    for (const almanac::Run& stopped : played->runs) {
      if (!stopped.stopped) continue;
      // What the job that it stops for leaves may go to any other.
      std::vector<std::int32_t> takers;
      bool moves = false;
      for (const almanac::Run& next : played->runs) {
        moves = moves || (next.start == stopped.end && next.job == stopped.job);
        const bool is_taker = next.start == stopped.end && next.job != stopped.job;
        if (is_taker && share_a_gpu(stopped, next)) takers.push_back(tier(next.job));
      }
      if (moves || takers.empty()) continue;
      EXPECT_GE(*std::max_element(takers.begin(), takers.end()), tier(stopped.job))
          << "seed " << seed << ": job " << index(stopped.job) << " stopped at "
          << seconds(stopped.end.time_since_epoch());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryCompositionWithTiers,
                         testing::ValuesIn(compositions_that_stop_one_by_one()), test_name);

}  // namespace
}  // namespace almanac
