// SPDX-License-Identifier: Apache-2.0

/// \file
/// The bound that pass `preempt` sets. Let E be the wait of a job under policy `easy`, and L the
/// longest limit of all jobs. Where limits are run times, no job waits for more than
///
///     bound x E + grace_s + (1 + jobs ahead) x L
///
/// because it is overdue after bound x E + grace_s, and from then on only these jobs run before it:
///
///   - Jobs that run at that moment and may not be stopped, or are overdue themselves. All of them
///     end within L, and all others give way to the first job in line. The reservation of the first
///     job is therefore at most L away.
///   - Jobs that start later without delaying that reservation, or that give way to it.
///   - Jobs ahead: those that were due earlier. One after the other is first in line, for at most L
///     each, and none of them is stopped again. A job that had been stopped before it became
///     overdue may put itself before the first in line, whose reservation then starts again: it
///     counts twice.
///
/// All jobs are of one priority tier, no job outlives its limit, and no node fails. How many jobs
/// are ahead has no bound of its own: if a crowd of jobs is due at the same time, the last one
/// waits for all others.
///
/// Case 20,780 of HoldsInRandomCases exceeds the bound by 84 s, so the argument or the pass has a
/// gap. Only the first 2,000 cases run by default.
///
/// With longer limits the policy knows E only from above, because it assumes that jobs that have
/// not ended run to their limits. These cases are held to `kDrains`, which no argument supports.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr double kBound = 2;
constexpr Duration kGrace = 60s;
/// How often the longest limit of a case may pass until an overdue job has its GPUs.
constexpr int kDrains = 4;

enum class Limits { exact, loose };

/// Up to 60 jobs on up to three nodes; few are large or long, some may be stopped.
Case random_case(std::uint64_t seed, Limits limits) {
  Rng rng(seed);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
  };
  Case made;
  const int nodes = static_cast<int>(1 + below(3));
  made.cluster = cluster::uniform(nodes, 4);
  made.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  const std::int64_t jobs = 10 + below(50);
  const std::int64_t pause = 1 + below(60);
  const std::int64_t stoppable = below(4);  // in four
  std::int64_t now = 0;
  for (std::int64_t job = 0; job < jobs; ++job) {
    now += below(pause);
    const std::int64_t run = below(8) == 0 ? 1 + below(1000) : 1 + below(60);
    const bool is_exact = below(2) == 0 || limits == Limits::exact;
    const std::int64_t limit = is_exact ? run : run + below(2 * run);
    const bool is_large = below(6) == 0;
    JobSpec spec{.id = std::to_string(job),
                 .submit = now * 1s,
                 .gpus = static_cast<int>(is_large ? 1 + below(4 * nodes) : 1 + below(2)),
                 .run = run * 1s,
                 .limit = limit * 1s};
    if (below(4) < stoppable) spec.checkpoint = 1s;
    add_job(made.trace, spec);
  }
  return made;
}

sim::Schedule schedule_of(Case& input, const std::string& policy) {
  input.policy = policy;
  Result<Played> played = play(input);
  EXPECT_TRUE(played);
  return std::move(played->result);
}

std::vector<Duration> waits(const Case& input, const sim::Schedule& schedule) {
  std::vector<Duration> all;
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const sim::JobResult result = schedule.jobs[job];
    all.push_back(result.end - input.trace.jobs[job].request.submit - result.ran);
  }
  return all;
}

std::vector<Duration> waits(Case& input, const std::string& policy) {
  return waits(input, schedule_of(input, policy));
}

Duration longest_limit(const Case& input) {
  Duration longest{0};
  for (const trace::Job& job : input.trace.jobs) {
    longest = std::max(longest, job.request.time_limit);
  }
  return longest;
}

int cases() {
  const char* const asked = std::getenv("WAIT_BOUND_CASES");
  return asked == nullptr ? 2'000 : std::atoi(asked);
}

std::string bounded() {
  return fmt::format("almanac+limit+preempt:marked:2:{}:{}", kBound, seconds(kGrace));
}

/// Jobs that were due no later than `job` and start after `job` was due; those that were stopped
/// count twice.
int jobs_ahead(const sim::Schedule& schedule, const std::vector<Time>& due, std::size_t job) {
  int ahead = 0;
  for (std::size_t other = 0; other < due.size(); ++other) {
    if (other == job || due[other] > due[job]) continue;
    const sim::JobResult result = schedule.jobs[other];
    if (result.preemptions == 0 && result.start >= due[job]) ahead += 1;
    if (result.preemptions > 0 && result.end > due[job]) ahead += 2;
  }
  return ahead;
}

TEST(WaitBound, HoldsInRandomCases) {
  double worst = 0;
  int most_ahead = 0;
  for (int seed = 1; seed <= cases(); ++seed) {
    Case input = random_case(static_cast<std::uint64_t>(seed), Limits::exact);
    const Duration longest = longest_limit(input);
    const std::vector<Duration> easy = waits(input, "easy");
    const sim::Schedule schedule = schedule_of(input, bounded());
    const std::vector<Duration> own = waits(input, schedule);
    std::vector<Time> due;  // when each is overdue if it has not run until then
    for (std::size_t job = 0; job < own.size(); ++job) {
      due.push_back(input.trace.jobs[job].request.submit +
                    Duration{std::llround(kBound * static_cast<double>(easy[job].count()))} +
                    kGrace);
    }
    for (std::size_t job = 0; job < own.size(); ++job) {
      const Duration over = own[job] - (due[job] - input.trace.jobs[job].request.submit);
      if (over <= Duration{0}) continue;
      const int ahead = jobs_ahead(schedule, due, job);
      worst = std::max(worst, seconds(over) / seconds(longest));
      most_ahead = std::max(most_ahead, ahead);
      ASSERT_LE(over, (1 + ahead) * longest) << "seed " << seed << " job " << job;
    }
  }
  fmt::print("worst case: {:.2f} times the longest limit beyond the bound; at most {} ahead\n",
             worst, most_ahead);
}

TEST(WaitBound, HoldsWithLooseLimits) {
  double worst = 0;
  for (int seed = 1; seed <= cases(); ++seed) {
    Case input = random_case(static_cast<std::uint64_t>(seed), Limits::loose);
    const Duration longest = longest_limit(input);
    const std::vector<Duration> easy = waits(input, "easy");
    const std::vector<Duration> own = waits(input, bounded());
    for (std::size_t job = 0; job < own.size(); ++job) {
      const double over = seconds(own[job]) - kBound * seconds(easy[job]) - seconds(kGrace);
      worst = std::max(worst, over / seconds(longest));
      ASSERT_LE(over, kDrains * seconds(longest)) << "seed " << seed << " job " << job;
    }
  }
  fmt::print("worst case: {:.2f} times the longest limit beyond the bound\n", worst);
}

TEST(WaitBound, PassIsEasyWhereNoJobMayBeStopped) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case input = random_case(seed, Limits::loose);
    EXPECT_EQ(waits(input, "easy+gpu_time"), waits(input, "easy+gpu_time+preempt:none:1:0"))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace almanac
