// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kept jobs that stop others, under every policy: replicas of services in a simulation.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/names.h"
#include "experiment/profile.h"
#include "policy/kit/keeping.h"
#include "policy/registry.h"
#include "support/rules.h"
#include "support/witness.h"

namespace almanac {
namespace {

using policy::Phase;
using policy::registry;

bool is_kept(JobId job) { return index(job) % 12 == 5; }

/// Every policy, some with nodes that sleep and some on parts of the cluster.
std::vector<std::string> everything() {
  std::vector<std::string> names = named_policies();
  for (const char* const name : {"srtf+follow_load", "fifo+follow_load", "easy+pop:2", "las+pop:2",
                                 "fifo+defragment", "fifo+relax", "fifo+lease:60"}) {
    names.push_back(name);
  }
  return names;
}

/// Expects that the reasons of each ended job, also of one that was stopped, add up to its wait.
void expect_reasons_of_whole_waits(const Case& input, const sim::Schedule& schedule) {
  std::vector<Duration> explained(input.trace.jobs.size(), Duration{0});
  for (const auto& [job, wait] : schedule.job_waits) {
    if (index(job) < explained.size()) explained[index(job)] += wait.until - wait.from;
  }
  for (std::size_t job = 0; job < explained.size(); ++job) {
    const sim::JobResult told = schedule.jobs[job];
    if (told.phase != Phase::ended) continue;
    const trace::Request& request = input.trace.jobs[job].request;
    EXPECT_EQ(explained[job], told.end - sim::joined(request, told) - told.ran) << "job " << job;
  }
}

/// Both ways of choosing what stops.
policy::IfFull way_of(std::uint64_t seed) {
  return seed % 2 == 0 ? policy::IfFull::empty_nodes : policy::IfFull::stop_others;
}

class EveryPolicyWithReclaim : public testing::TestWithParam<std::string> {
 protected:
  /// Plays `input`, in which kept jobs ask one GPU of any type.
  static Played play_kept(Case& input, policy::IfFull if_full) {
    for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
      if (!is_kept(JobId{job})) continue;
      trace::Request& request = input.trace.jobs[job].request;
      const trace::Request before = std::exchange(request, {});
      request.submit = before.submit;
      request.time_limit = before.time_limit;
      request.predicted = before.predicted;
      request.vc = before.vc;
      request.user = before.user;
      request.gpus = 1;
    }
    const auto composition = registry().compose(GetParam());
    EXPECT_TRUE(composition) << to_string(composition.error());
    experiment::PolicyRun run{.composition = *composition, .restart = input.options.restart};
    auto made = experiment::make_policy(run, input.trace);
    EXPECT_TRUE(made) << to_string(made.error());
    const auto kept = policy::keeping(*std::move(made), *composition, is_kept, if_full);
    Witness witness(*kept);
    sim::Options options = input.options;
    options.policy = GetParam();
    options.watch.log_waits = true;
    if (input.incidents) options.incidents = &*input.incidents;
    Played played{.result = sim::simulate(input.trace, input.cluster, witness, options)};
    played.runs = witness.runs();
    played.sleeps = witness.sleeps();
    played.faults = witness.faults();
    played.restart = options.restart;
    return played;
  }
};

TEST_P(EveryPolicyWithReclaim, StartsKeptJobsAtOnceAndLosesNoOther) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    for (const auto day : {crowded_day, crowded_day_with_cores}) {
      Case input = day(seed);
      const Played played = play_kept(input, way_of(seed));
      EXPECT_EQ(broken_rules(input, played), std::vector<std::string>{});
      expect_reasons_of_whole_waits(input, played.result);
      for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
        const sim::JobResult told = played.result.jobs[job];
        if (!is_kept(JobId{job})) continue;
        EXPECT_EQ(told.start, input.trace.jobs[job].request.submit) << "job " << job;
        EXPECT_EQ(told.preemptions, 0U) << "job " << job;
      }
    }
  }
}

TEST_P(EveryPolicyWithReclaim, KeepsTheRulesWhereNodesFailAndGpusAreShared) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    for (const auto day : {crowded_day, crowded_day_with_parts}) {
      Case input = day(seed);
      input.incidents = bad_day(input, seed);
      const Played played = play_kept(input, way_of(seed));
      EXPECT_EQ(broken_rules(input, played), std::vector<std::string>{});
      expect_reasons_of_whole_waits(input, played.result);
      for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
        if (!is_kept(JobId{job})) continue;
        EXPECT_EQ(played.result.jobs[job].preemptions, 0U) << "job " << job;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyWithReclaim, testing::ValuesIn(everything()),
                         test_name);

}  // namespace
}  // namespace almanac
