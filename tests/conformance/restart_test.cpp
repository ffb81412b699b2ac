// SPDX-License-Identifier: Apache-2.0

/// \file
/// Restarts that take as long as leases, or longer, and checkpoints that are never written: all
/// jobs must end under every policy. A policy that stops a job sooner than its run pays for the
/// restart stops it again and again, and a simulation of it never ends.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/expect.h"
#include "conformance/names.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::registry;

/// Every policy, and each choice of a slot with passes that stop, move or resize jobs.
std::vector<std::string> all_that_may_stop_jobs() {
  std::vector<std::string> names = named_policies();
  for (const policy::Entry& pass : registry().passes.entries()) {
    names.push_back("fifo+" + pass.name);
  }
  for (const char* const pass : {"lease:60", "introspective", "by_rank", "preempt:all"}) {
    for (const policy::Entry& order : registry().orders.entries()) {
      names.push_back(order.name + "+" + pass);
    }
  }
  for (const char* const base :
       {"fifo+turns+lease:60+", "fifo+turns+introspective+", "srtf+", "fifo+defragment+"}) {
    for (const auto* choices : {&registry().sizes.entries(), &registry().packings.entries(),
                                &registry().shapes.entries()}) {
      for (const policy::Entry& choice : *choices) names.push_back(base + choice.name);
    }
  }
  // A choice that the registry refuses with others is not a policy.
  std::erase_if(names, [](const std::string& name) { return !registry().compose(name); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class EveryPolicyWithLongRestarts : public testing::TestWithParam<std::string> {
 protected:
  /// A restart takes 20 minutes, the longest lease of a default; a third of the jobs write no
  /// checkpoint before they end.
  static void expect_all_jobs_end(Case input) {
    input.policy = GetParam();
    input.options.restart = {.one_gpu = 1200s, .up_to_8_gpus = 1200s, .more_gpus = 1200s};
    for (std::size_t job = 0; job < input.trace.jobs.size(); job += 3) {
      input.trace.jobs[job].request.checkpoint_s = 7200;
    }
    Patience patience(20'000);
    input.options.watch.listener = &patience;
    input.options.watch.stop = &patience.lost;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_FALSE(played->result.interrupted) << "it never ends";
    for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
      const policy::Phase phase = played->result.jobs[job].phase;
      // Trials of a sweep are cut off.
      const bool has_ended = phase == policy::Phase::ended || phase == policy::Phase::cut_off;
      EXPECT_TRUE(has_ended) << "job " << job;
    }
  }
};

TEST_P(EveryPolicyWithLongRestarts, EndsAllJobs) { expect_all_jobs_end(crowded_day(10)); }

TEST_P(EveryPolicyWithLongRestarts, EndsAllJobsThatTrain) {
  expect_all_jobs_end(crowded_day_with_training(10));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyWithLongRestarts,
                         testing::ValuesIn(all_that_may_stop_jobs()), test_name);

}  // namespace
}  // namespace almanac
