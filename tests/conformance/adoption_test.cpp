// SPDX-License-Identifier: Apache-2.0

/// \file
/// A new policy on a new round takes over what is true at some instant and goes on: a service that
/// was started again, and the first step of every forecast.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "conformance/names.h"
#include "experiment/profile.h"
#include "perf/catalogue_file.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::registry;

constexpr std::uint32_t kJobs = 120;

/// Jobs of one to sixteen GPUs in two virtual clusters, more than there is room for.
Case crowded_clusters(std::uint64_t seed, const std::string& policy) {
  Case made;
  made.policy = policy;
  made.cluster.add_vc("red");
  made.cluster.add_nodes({.gpus = 8, .cpus = 32, .memory_gb = 64}, 3);
  made.cluster.add_vc("blue");
  made.cluster.add_nodes({.gpus = 4, .cpus = 16, .memory_gb = 64}, 4);
  Rng rng(seed);
  Rng deadlines(seed + 1000);
  std::int64_t now_ms = 0;
  for (std::uint32_t job = 0; job < kJobs; ++job) {
    now_ms += static_cast<std::int64_t>(rng.below(120'000));
    const bool red = rng.below(2) == 0;
    const int gpus = static_cast<int>(1 + rng.below(red ? 16 : 8));
    const auto run_ms = static_cast<std::int64_t>(1 + rng.below(900'000));
    const auto slack_ms = static_cast<std::int64_t>(deadlines.below(3'600'000));
    add_job(made.trace, {.id = std::to_string(job),
                         .submit = Duration{now_ms},
                         .gpus = gpus,
                         .run = Duration{run_ms},
                         .vc = red ? "red" : "blue",
                         .user = rng.below(2) == 0 ? "ann" : "bob",
                         .limit = Duration{run_ms + static_cast<std::int64_t>(rng.below(60'000))},
                         .predicted = Duration{run_ms},
                         .deadline = Duration{now_ms + run_ms + slack_ms},
                         .cpus = static_cast<float>(gpus),
                         .memory_gb = static_cast<float>(gpus)});
  }
  return made;
}

/// Keeps what was true when a job came.
class Snapshot final : public sim::Listener {
 public:
  Snapshot(const Case& input, JobId at) : input_(input), at_(at) {}

  void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
            const policy::Telemetry* telemetry) override {
    for (const policy::Event& event : events) {
      const bool arrives = event.kind == policy::EventKind::job_arrived;
      if (!arrives || JobId{event.subject} != at_) continue;
      taken = sim::present_of(round, input_.cluster, input_.trace.jobs.size(), telemetry, now);
    }
  }

  std::optional<sim::Present> taken;

 private:
  const Case& input_;
  JobId at_;
};

struct Twice {
  sim::Present present;
  sim::Schedule whole;
  sim::Schedule resumed;
};

/// A case played to its end, and again from when job `at` came, as a new policy goes on from there.
Twice play_twice(const Case& input, JobId at) {
  const policy::Composition composition = *registry().compose(input.policy);
  Snapshot snapshot(input, at);
  sim::Options options = input.options;
  options.watch.listener = &snapshot;
  const auto first = experiment::make_policy(composition, input.trace);
  sim::Schedule whole = sim::simulate(input.trace, input.cluster, **first, options);
  EXPECT_TRUE(snapshot.taken);
  options.watch.listener = nullptr;
  options.range.from = &*snapshot.taken;
  const auto second = experiment::make_policy(composition, input.trace);
  sim::Schedule resumed = sim::simulate(input.trace, input.cluster, **second, options);
  return {std::move(*snapshot.taken), std::move(whole), std::move(resumed)};
}

class EveryPolicyTakesOver : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicyTakesOver, WhatRunsAndWhatWaits) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Case input = crowded_clusters(seed, GetParam());
    const Twice told = play_twice(input, JobId{60});
    std::set<JobId> active;
    for (const sim::Present::Job& job : told.present.running) {
      active.insert(job.job);
      const sim::JobResult after = told.resumed.jobs[index(job.job)];
      EXPECT_EQ(after.start, job.past.start) << "job " << index(job.job);
    }
    for (const sim::Present::Job& job : told.present.waiting) active.insert(job.job);
    EXPECT_GT(told.present.running.size(), 1U);
    EXPECT_GT(told.present.waiting.size(), 1U);
    for (std::uint32_t job = 0; job < kJobs; ++job) {
      const bool to_come = input.trace.jobs[job].request.submit > told.present.at;
      const sim::JobResult after = told.resumed.jobs[job];
      if (!to_come && !active.contains(JobId{job})) {
        EXPECT_EQ(after.phase, policy::Phase::unknown) << "job " << job << " was over";
        continue;
      }
      // No job is lost, and each does the work that there was to do, restarts beside.
      EXPECT_EQ(after.phase, told.whole.jobs[job].phase) << "job " << job;
      if (after.phase != policy::Phase::ended) continue;
      EXPECT_GE(after.ran, input.trace.jobs[job].outcome.run) << "job " << job;
      if (after.preemptions == 0) {
        EXPECT_EQ(after.ran, input.trace.jobs[job].outcome.run) << "job " << job;
      }
    }
  }
}

std::vector<std::string> every_policy() {
  std::vector<std::string> names = named_policies();
  for (const policy::Composition& known : registry().policies()) {
    if (registry().compose(known.name + "+pop")) names.push_back(known.name + "+pop");
  }
  for (const char* composed :
       {"srtf+helios_count", "fifo+arrays+adaptive+halve", "qssf+easy:3", "fifo+models"}) {
    if (registry().compose(composed)) names.emplace_back(composed);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyTakesOver, testing::ValuesIn(every_policy()),
                         test_name);

/// Policies that keep nothing in mind but the queue: the schedule is that of one that never paused.
class NothingInMind : public testing::TestWithParam<std::string> {};

TEST_P(NothingInMind, GoesOnAsIfNothingHadHappened) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Case input = crowded_clusters(seed, GetParam());
    const Twice told = play_twice(input, JobId{static_cast<std::uint32_t>(20 + 8 * seed)});
    for (std::uint32_t job = 0; job < kJobs; ++job) {
      const sim::JobResult after = told.resumed.jobs[job];
      if (after.phase == policy::Phase::unknown) continue;
      EXPECT_EQ(after.start, told.whole.jobs[job].start) << "seed " << seed << " job " << job;
      EXPECT_EQ(after.end, told.whole.jobs[job].end) << "seed " << seed << " job " << job;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, NothingInMind,
                         testing::Values("fifo", "sjf", "srtf", "easy+oracle", "las", "drf",
                                         "promise", "genie", "fifo+scan", "fifo+defragment"),
                         test_name);

/// Three one-GPU jobs of 1,200 s start past a job of four GPUs and 200 s, because they give way to
/// it. When they have less left than it needs, only guests still give way.
TEST(Adoption, KeepsGuests) {
  Case input;
  input.policy = "almanac+limit+preempt:all+bound:0";
  input.cluster = cluster::uniform(1, 4);
  input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  const auto add = [&](std::string_view id, Duration submit, int gpus, Duration run) {
    add_job(input.trace, {.id = id, .submit = submit, .gpus = gpus, .run = run, .limit = run});
  };
  // `short` has too little GPU time to give way (900 s against 1.25 times 800), and ends at 900 s.
  add("short", 0s, 1, 900s);
  add("wide", 10s, 4, 200s);
  add("g1", 20s, 1, 1200s);
  add("g2", 30s, 1, 1200s);
  add("g3", 40s, 1, 1200s);
  add("mark", 800s, 1, 5000s);
  const Twice told = play_twice(input, JobId{5});
  EXPECT_EQ(told.whole.jobs[1].start, Time{900s});
  EXPECT_EQ(told.resumed.jobs[1].start, Time{900s});
}

TEST(Adoption, KeepsNodesThatAreDrained) {
  Case input = crowded_clusters(1, "fifo");
  input.cluster.changes = {{.at = Time{10min}, .vc = VcId{0}, .nodes = 2},
                           {.at = Time{3h}, .vc = VcId{0}, .nodes = 3}};
  const Twice told = play_twice(input, JobId{60});
  ASSERT_EQ(told.present.drained.size(), 1U);
  for (std::uint32_t job = 0; job < kJobs; ++job) {
    const sim::JobResult after = told.resumed.jobs[job];
    if (after.phase == policy::Phase::unknown) continue;
    EXPECT_EQ(after.end, told.whole.jobs[job].end) << "job " << job;
  }
}

}  // namespace
}  // namespace almanac
