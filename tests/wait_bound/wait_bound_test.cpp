// SPDX-License-Identifier: Apache-2.0

/// \file
/// The bound that pass `preempt` sets: a job is overdue once it has waited for `bound` times its
/// wait under policy `easy`, plus `grace_s`, and an overdue job goes before all others of its tier.
/// It then still waits for jobs that may not be stopped, which hold GPUs until they end, and for
/// jobs that were overdue before it. So in random cases no job waits for more than
///
///     bound x wait under easy + grace_s + kDrains x longest limit
///
/// The last term is measured, not proven: if a crowd of jobs is overdue at once, the last of them
/// waits for all others.
///
/// A job is overdue, too, once its user's jobs have waited for longer than under `easy`, and on
/// average longer than `user_grace_s`. So no user waits on average for more than
///
///     max(wait under easy, user_grace_s) + kUserDrains x longest limit
///
/// The bounds are for jobs that others rightly pass. A job with less GPU time than all others needs
/// none: it waits, until it may stop others, for kPatience, and then for running jobs that are too
/// close to their ends to be stopped. So it waits for no more than
///
///     wait under easy + kPatience + longest limit
///
/// however many GPUs it needs, and however many other jobs come.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
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
constexpr Duration kUserGrace = 60s;
constexpr int kUserDrains = 3;

enum class Limits { exact, loose };

/// Up to 60 jobs on up to three nodes; few are large or long, some may be stopped. A large job is
/// the only one of its user.
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
    const std::string name = std::to_string(job);
    JobSpec spec{.id = name,
                 .submit = now * 1s,
                 .gpus = static_cast<int>(is_large ? 1 + below(4 * nodes) : 1 + below(2)),
                 .run = run * 1s,
                 .user = is_large ? name : "crowd",
                 .limit = limit * 1s};
    if (below(4) < stoppable) spec.checkpoint = 1s;
    add_job(made.trace, spec);
  }
  return made;
}

std::vector<Duration> waits(Case& input, const std::string& policy) {
  input.policy = policy;
  const Result<Played> played = play(input);
  EXPECT_TRUE(played);
  std::vector<Duration> all;
  for (std::size_t job = 0; job < played->result.jobs.size(); ++job) {
    const sim::JobResult result = played->result.jobs[job];
    all.push_back(result.end - input.trace.jobs[job].request.submit - result.ran);
  }
  return all;
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

/// Bounds the waits of jobs, but not those of users.
std::string bounded(std::string_view stops) {
  return fmt::format("almanac+limit+preempt:{}:2:{}:{}:1e9", stops, kBound, seconds(kGrace));
}

/// Bounds the waits of users, but not those of jobs.
std::string bounded_by_user() {
  return fmt::format("almanac+limit+preempt:marked:2:1e6:1e9:{}", seconds(kUserGrace));
}

/// In seconds, of each user with any job.
std::map<NameId, double> mean_waits(const Case& input, const std::vector<Duration>& waits) {
  std::map<NameId, double> sums;
  std::map<NameId, int> jobs;
  for (std::size_t job = 0; job < waits.size(); ++job) {
    const NameId user = input.trace.jobs[job].request.user;
    sums[user] += seconds(waits[job]);
    ++jobs[user];
  }
  for (auto& [user, sum] : sums) sum /= jobs[user];
  return sums;
}

class WaitBound : public testing::TestWithParam<Limits> {};

TEST_P(WaitBound, HoldsInRandomCases) {
  double worst = 0;
  for (int seed = 1; seed <= cases(); ++seed) {
    Case input = random_case(static_cast<std::uint64_t>(seed), GetParam());
    const Duration longest = longest_limit(input);
    const std::vector<Duration> easy = waits(input, "easy");
    const std::vector<Duration> own = waits(input, bounded("marked"));
    for (std::size_t job = 0; job < own.size(); ++job) {
      const double over = seconds(own[job]) - kBound * seconds(easy[job]) - seconds(kGrace);
      worst = std::max(worst, over / seconds(longest));
      ASSERT_LE(over, kDrains * seconds(longest)) << "seed " << seed << " job " << job;
    }
  }
  fmt::print("worst case: {:.2f} times the longest limit beyond the bound\n", worst);
}

TEST_P(WaitBound, HoldsForUsersInRandomCases) {
  double worst = 0;
  for (int seed = 1; seed <= cases(); ++seed) {
    Case input = random_case(static_cast<std::uint64_t>(seed), GetParam());
    const Duration longest = longest_limit(input);
    const std::map<NameId, double> easy = mean_waits(input, waits(input, "easy"));
    for (const auto& [user, wait] : mean_waits(input, waits(input, bounded_by_user()))) {
      const double over = wait - std::max(easy.at(user), seconds(kUserGrace));
      worst = std::max(worst, over / seconds(longest));
      ASSERT_LE(over, kUserDrains * seconds(longest)) << "seed " << seed;
    }
  }
  fmt::print("worst user: {:.2f} times the longest limit beyond the bound\n", worst);
}

TEST_P(WaitBound, HoldsWhereAllJobsMayBeStopped) {
  double worst = 0;
  for (int seed = 1; seed <= cases(); ++seed) {
    Case input = random_case(static_cast<std::uint64_t>(seed), GetParam());
    input.options.restart = {.one_gpu = 5s, .up_to_8_gpus = 5s, .more_gpus = 5s};
    const Duration longest = longest_limit(input);
    const std::vector<Duration> easy = waits(input, "easy");
    const std::vector<Duration> own = waits(input, bounded("all"));
    for (std::size_t job = 0; job < own.size(); ++job) {
      const double over = seconds(own[job]) - kBound * seconds(easy[job]) - seconds(kGrace);
      worst = std::max(worst, over / seconds(longest));
      ASSERT_LE(over, kDrains * seconds(longest)) << "seed " << seed << " job " << job;
    }
  }
  fmt::print("worst case: {:.2f} times the longest limit beyond the bound\n", worst);
}

/// A stream of jobs of one GPU and 1,000 to 1,100 s, at a load of 60 to 120 %, and a job of at
/// least half of the GPUs with 50 to 80 % of the GPU time of one of them. All may be stopped. So
/// jobs of the stream give way to it when they start, but not when they are close to their ends,
/// and at any time some are. Returns the number of the job.
std::size_t add_stream(Case& made, std::uint64_t seed, Limits limits) {
  Rng rng(seed);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
  };
  const int nodes = static_cast<int>(4 + below(5));
  const int gpus = 4 * nodes;
  made.cluster = cluster::uniform(nodes, 4);
  const std::int64_t pause = 2 * 1050 * 100 / (gpus * (60 + below(60)));
  std::size_t wide = 0;
  int number = 0;
  for (std::int64_t now = 0; now < 20'000; now += 1 + below(pause)) {
    if (wide == 0 && now >= 5'000) {
      wide = made.trace.jobs.size();
      const auto its = static_cast<int>(gpus / 2 + below(gpus / 2 + 1));
      const Duration run = (500 + below(300)) / its * 1s;
      const std::string_view user = below(2) == 0 ? "other" : "crowd";
      add_job(
          made.trace,
          {.id = "wide", .submit = now * 1s, .gpus = its, .run = run, .user = user, .limit = run});
    }
    const std::int64_t run = 1'000 + below(101);
    const std::int64_t limit = limits == Limits::exact ? run : run + below(200);
    add_job(made.trace, {.id = std::to_string(++number),
                         .submit = now * 1s,
                         .gpus = 1,
                         .run = run * 1s,
                         .user = "crowd",
                         .limit = limit * 1s});
  }
  return wide;
}

TEST_P(WaitBound, JobWithLeastGpuTimeIsNotPassedForEver) {
  constexpr Duration kPatience = 10min;
  double worst = 0;
  for (int seed = 1; seed <= cases() / 40; ++seed) {
    Case input;
    const std::size_t wide = add_stream(input, static_cast<std::uint64_t>(seed), GetParam());
    const Duration longest = longest_limit(input);
    const Duration easy = waits(input, "easy")[wide];
    const Duration own = waits(input, "almanac+limit+preempt:all")[wide];
    worst = std::max(worst, seconds(own - easy - kPatience) / seconds(longest));
    ASSERT_LE(own, easy + kPatience + longest) << "seed " << seed;
  }
  fmt::print("worst case: {:.2f} times the longest limit beyond easy and patience\n", worst);
}

std::string limits_name(const testing::TestParamInfo<Limits>& test) {
  return test.param == Limits::exact ? "exact_limits" : "loose_limits";
}

INSTANTIATE_TEST_SUITE_P(Random, WaitBound, testing::Values(Limits::exact, Limits::loose),
                         limits_name);

TEST(PreemptPass, IsEasyWhereNoJobMayBeStopped) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case input = random_case(seed, Limits::loose);
    EXPECT_EQ(waits(input, "easy+gpu_time"), waits(input, "easy+gpu_time+preempt:none:1:0"))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace almanac
