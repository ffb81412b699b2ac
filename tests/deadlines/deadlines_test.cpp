// SPDX-License-Identifier: Apache-2.0

/// \file
/// Deadlines under pass `preempt`: if all deadlines can be met on one GPU, all are, whatever else
/// waits there. Jobs that arrive at once can all be in time exactly if they are when they run in
/// order of deadline (Jackson, 1955).
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr Duration kLease = 300s;  // of pass `preempt`

struct Due {
  Duration run{};
  Duration deadline{};
};

bool can_all_be_met(std::vector<Due> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const Due& a, const Due& b) { return a.deadline < b.deadline; });
  Duration end{};
  return std::all_of(jobs.begin(), jobs.end(), [&](const Due& job) {
    end += job.run;
    return end <= job.deadline;
  });
}

TEST(Deadlines, AreAllMetIfAllCanBe) {
  int cases = 0;
  for (std::uint64_t seed = 1; cases < 300; ++seed) {
    Rng rng(seed);
    const auto leases = [&](std::uint64_t most) {
      return static_cast<int>(1 + rng.below(most)) * kLease;
    };
    std::vector<Due> due(1 + rng.below(6));
    for (Due& each : due) each = {.run = leases(4), .deadline = leases(20)};
    if (!can_all_be_met(due)) continue;
    ++cases;
    Case input;
    input.cluster = cluster::uniform(1, 1);
    input.policy = "almanac+oracle+deadlines:met";
    input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    for (std::size_t job = 0; job < due.size(); ++job) {
      add_job(input.trace, {.id = std::to_string(job),
                            .run = due[job].run,
                            .deadline = due[job].deadline,
                            .requeue = trace::Requeue::yes});
    }
    for (int other = 0; other < 4; ++other) {
      add_job(input.trace, {.id = "other" + std::to_string(other),
                            .run = static_cast<int>(1 + rng.below(1000)) * 1s,
                            .requeue = trace::Requeue::yes});
    }
    const Result<Played> played = play(input);
    ASSERT_TRUE(played);
    for (std::size_t job = 0; job < due.size(); ++job) {
      EXPECT_LE(played->result.jobs[job].end.time_since_epoch(), due[job].deadline)
          << "seed " << seed << " job " << job;
    }
  }
}

}  // namespace
}  // namespace almanac
