// SPDX-License-Identifier: Apache-2.0

/// \file
/// What every policy of the registry must do, also one that is added tomorrow.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "conformance/days.h"
#include "conformance/expect.h"
#include "conformance/names.h"
#include "energy/power_file.h"
#include "experiment/summary.h"
#include "policy/registry.h"
#include "support/long_run.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {
namespace {

using policy::registry;

/// Every policy, and every order, size and placement in one; passes that no
/// named policy has.
std::vector<std::string> everything() {
  std::vector<std::string> names = named_policies();
  for (const char* pass : {"scan", "relax", "defragment", "profile_first"}) {
    names.push_back(std::string("fifo+") + pass);
  }
  for (const policy::Entry& order : registry().orders.entries()) {
    const bool leased = order.traits.needs.has(policy::Trait::leases);
    names.push_back((leased ? "fifo+lease+" : "fifo+") + order.name);
  }
  for (const policy::Entry& size : registry().sizes.entries()) {
    const bool leased = size.traits.needs.has(policy::Trait::leases);
    names.push_back((leased ? "fifo+lease+" : "fifo+") + size.name);
  }
  for (const policy::Entry& placement : registry().placements.entries()) {
    for (const char* base : {"fifo+", "easy+", "conservative+", "srtf+", "almanac+preempt:all+"}) {
      names.push_back(base + placement.name);
    }
  }
  return names;
}

/// Every job of `count` in a long run. Otherwise one of ten, other ones for other policies: each
/// costs a simulation.
std::vector<JobId> jobs_to_ask(const std::string& policy, std::uint32_t count) {
  const std::uint32_t step = is_long_run() ? 1 : 10;
  const std::uint32_t sum = std::accumulate(policy.begin(), policy.end(), std::uint32_t{0});
  std::vector<JobId> made;
  for (std::uint32_t job = sum % step; job < count; job += step) made.push_back(JobId{job});
  return made;
}

class EveryPolicy : public testing::TestWithParam<std::string> {
 protected:
  static Case day(std::uint64_t seed) {
    Case made = crowded_day(seed);
    made.policy = GetParam();
    return made;
  }
};

TEST_P(EveryPolicy, KeepsTheRules) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Case input = day(seed);
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, KeepsTheRulesWithCores) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Case input = crowded_day_with_cores(seed);
    input.policy = GetParam();
    input.options.timeline_interval = 10min;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, KeepsTheRulesWithPartsOfGpus) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Case input = crowded_day_with_parts(seed);
    input.policy = GetParam();
    input.options.timeline_interval = 10min;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    input.cluster.changes = {{.at = Time{1h}, .vc = VcId{0}, .nodes = 1},
                             {.at = Time{2h}, .vc = VcId{0}, .nodes = 3}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, KeepsTheRulesWithInstancesOfGpus) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case input = crowded_day_with_instances(seed);
    input.policy = GetParam();
    input.options.timeline_interval = 10min;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    input.cluster.changes = {{.at = Time{1h}, .vc = VcId{1}, .nodes = 3},
                             {.at = Time{2h}, .vc = VcId{1}, .nodes = 4}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, KeepsTheRulesWhereNodesFail) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    expect_rules_where_nodes_fail(day(seed), seed);
    Case parts = crowded_day_with_parts(seed);
    parts.policy = GetParam();
    expect_rules_where_nodes_fail(std::move(parts), seed);
    Case instances = crowded_day_with_instances(seed);
    instances.policy = GetParam();
    expect_rules_where_nodes_fail(std::move(instances), seed);
  }
}

TEST_P(EveryPolicy, KeepsTheRulesWithTraining) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case input = crowded_day_with_training(seed);
    input.policy = GetParam();
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    input.cluster.changes = {{.at = Time{1h}, .vc = VcId{0}, .nodes = 1},
                             {.at = Time{2h}, .vc = VcId{0}, .nodes = 3}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, KeepsNvlinkGroupsInOneDomain) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case input = crowded_day_with_nvlink(seed);
    input.policy = GetParam();
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
      EXPECT_NE(played->result.jobs[job].phase, policy::Phase::waiting) << job << " starves";
    }
    expect_rules_where_nodes_fail(std::move(input), seed);
  }
}

TEST_P(EveryPolicy, ComesToAnEndThoughNodesStayAway) { expect_an_end(day(9)); }

TEST_P(EveryPolicy, ComesToAnEndWithTrainingThoughNodesStayAway) {
  Case input = crowded_day_with_training(9);
  input.policy = GetParam();
  expect_an_end(std::move(input));
}

TEST_P(EveryPolicy, DecidesTheSameAgain) {
  const Case input = day(6);
  const Result<Played> once = play(input);
  const Result<Played> again = play(input);
  ASSERT_TRUE(once && again);
  ASSERT_EQ(once->runs.size(), again->runs.size());
  for (std::size_t at = 0; at < once->runs.size(); ++at) {
    EXPECT_EQ(once->runs[at].job, again->runs[at].job);
    EXPECT_EQ(once->runs[at].start, again->runs[at].start);
    EXPECT_EQ(once->runs[at].end, again->runs[at].end);
    EXPECT_EQ(once->runs[at].grants, again->runs[at].grants);
  }
}

TEST_P(EveryPolicy, SaysWhyAJobWaitsForAsLongAsItWaits) {
  for (const JobId job : jobs_to_ask(GetParam(), 120)) {
    Case input = day(7);
    input.options.watch.job = job;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    Duration waited{0};
    for (const sim::Wait& wait : played->result.waits) {
      EXPECT_FALSE(policy::to_string(wait.reason, "X").empty());
      EXPECT_NE(wait.reason.other, job) << "it waits for itself";
      // "Nothing keeps it" is an answer only for a job that is about to be looked at again.
      if (wait.reason.kind == policy::ReasonKind::none) {
        EXPECT_LE(wait.until - wait.from, 1s)
            << "job " << index(job) << " at " << seconds(wait.from);
      }
      ASSERT_NE(wait.until, kNever);
      waited += wait.until - wait.from;
    }
    const sim::JobResult& told = played->result.jobs[index(job)];
    if (told.phase != policy::Phase::ended) continue;
    const Time submit = input.trace.jobs[index(job)].request.submit;
    EXPECT_EQ(waited, told.end - submit - told.ran) << "job " << index(job);
  }
}

TEST_P(EveryPolicy, IsNotDisturbedByBeingAsked) {
  Case input = day(8);
  const Result<Played> alone = play(input);
  input.options.watch.job = JobId{60};
  const Result<Played> watched = play(input);
  ASSERT_TRUE(alone && watched);
  for (std::size_t job = 0; job < alone->result.jobs.size(); ++job) {
    EXPECT_EQ(alone->result.jobs[job].start, watched->result.jobs[job].start);
    EXPECT_EQ(alone->result.jobs[job].end, watched->result.jobs[job].end);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicy, testing::ValuesIn(everything()), test_name);

/// Every capacity, under each way of going through the queue.
std::vector<std::string> every_capacity() {
  std::vector<std::string> names;
  for (const policy::Entry& capacity : registry().capacities.entries()) {
    for (const char* base : {"fifo+", "easy+", "conservative+", "srtf+", "fifo+random+"}) {
      names.push_back(base + capacity.name);
    }
  }
  return names;
}

class EveryCapacity : public testing::TestWithParam<std::string> {
 protected:
  /// How many weeks are played: each takes seconds.
  static std::uint64_t weeks() { return is_long_run() ? 3 : 1; }

  /// The crowded day drawn out over a week: standby lets nothing sleep in the first three.
  static Case quiet_days(std::uint64_t seed) {
    Case made = crowded_day(seed);
    for (trace::Job& job : made.trace.jobs) {
      job.request.submit = Time{job.request.submit.time_since_epoch() * 150};
    }
    made.policy = GetParam();
    return made;
  }
};

TEST_P(EveryCapacity, KeepsTheRules) {
  for (std::uint64_t seed = 1; seed <= weeks(); ++seed) {
    Case input = quiet_days(seed);
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    if (GetParam().ends_with("+follow_load") || GetParam().ends_with("+standby")) {
      EXPECT_FALSE(played->sleeps.empty());
      EXPECT_GT(played->result.held_back.jobs, 0U);
    }
    const experiment::Summary told = experiment::summarize(
        {.name = GetParam()}, input.trace, played->result, *energy::read_power("dgx1"));
    EXPECT_GE(told.energy_j, told.energy_bound_j) << "less than with the future known";
    // Nodes come and go, some of them asleep.
    input.cluster.changes = {{.at = Time{100h}, .vc = VcId{0}, .nodes = 1},
                             {.at = Time{140h}, .vc = VcId{0}, .nodes = 3}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryCapacity, IsNotDisturbedByBeingAsked) {
  Case input = quiet_days(8);
  const Result<Played> alone = play(input);
  input.options.watch.job = JobId{60};
  const Result<Played> watched = play(input);
  ASSERT_TRUE(alone && watched);
  for (std::size_t job = 0; job < alone->result.jobs.size(); ++job) {
    EXPECT_EQ(alone->result.jobs[job].start, watched->result.jobs[job].start);
    EXPECT_EQ(alone->result.jobs[job].end, watched->result.jobs[job].end);
  }
}

TEST_P(EveryCapacity, KeepsTheRulesWhereJobsAreBoundToNodesThatSleep) {
  const policy::Composition composition = *registry().compose(GetParam());
  const bool is_ordered = composition.pass == "strict";
  for (const char* const way : {"", "+scan"}) {
    Case input = quiet_days(3);
    input.policy += is_ordered ? way : "";
    input.profile = "slurm";
    const Result<Played> played = play(input);
    if (!is_ordered) {
      ASSERT_FALSE(played);
      EXPECT_EQ(played.error().code, Code::usage);
      return;
    }
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << input.policy;
    const bool binds = std::any_of(played->runs.begin(), played->runs.end(),
                                   [](const almanac::Run& run) { return run.begin > run.start; });
    EXPECT_EQ(binds, !played->sleeps.empty()) << input.policy;
    input.cluster.changes = {{.at = Time{100h}, .vc = VcId{0}, .nodes = 1},
                             {.at = Time{140h}, .vc = VcId{0}, .nodes = 3}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << input.policy;
  }
}

TEST_P(EveryCapacity, KeepsTheRulesWhereNodesFail) {
  for (std::uint64_t seed = 1; seed <= weeks(); ++seed) {
    expect_rules_where_nodes_fail(quiet_days(seed), seed);
  }
}

TEST_P(EveryCapacity, ComesToAnEndThoughNodesStayAway) { expect_an_end(quiet_days(9)); }

INSTANTIATE_TEST_SUITE_P(Registry, EveryCapacity, testing::ValuesIn(every_capacity()), test_name);

/// GPU jobs and CPU jobs on nodes with cores and memory bandwidth, at the speed that these allow.
Case mixed_day(std::uint64_t seed) {
  Case made;
  made.speed = "linear";
  made.cluster.takes_every_job = true;
  made.cluster.add_vc("all");
  cluster::NodeClass node{.gpus = 4, .cpus = 20, .memory_gb = 64, .bandwidth_gbs = 60};
  made.cluster.add_nodes(node, 2);
  node.gpu_power_limit_w = 120;
  made.cluster.add_nodes(node, 1);
  made.cluster.add_nodes({.gpus = 0, .cpus = 8, .memory_gb = 32}, 1);
  const char* const models[] = {"", "two", "four", "half", "quiet", "quiet", "loud"};
  const char* const alternatives[] = {"gpu:2@1.5|cpu:8@0.2", "cpu:4@0.25", "gpu:1@4", ""};
  Rng rng(seed);
  Rng other(seed + 1);
  std::int64_t now = 0;
  for (int job = 0; job < 100; ++job) {
    if (rng.below(3) > 0) now += static_cast<std::int64_t>(rng.below(200));
    const int gpus = rng.below(2) == 0 ? 0 : 1 << rng.below(4);
    const bool tells_cores = rng.below(8) > 0;
    const int max_gpus = gpus > 0 && rng.below(2) == 0 ? 1 << rng.below(4) : 0;
    const Duration deadline =
        rng.below(3) == 0 ? kNoDuration : (now + static_cast<std::int64_t>(rng.below(2000))) * 1s;
    const bool urgent = rng.below(10) == 0;
    add_job(made.trace, {.id = std::to_string(job),
                         .submit = now * 1s,
                         .gpus = gpus,
                         .run = static_cast<std::int64_t>(rng.below(1200)) * 1s,
                         .user = rng.below(2) == 0 ? "ann" : "bob",
                         .name = rng.below(2) == 0 ? "train" : "test",
                         .model = gpus == 0 ? "" : models[rng.below(7)],
                         .kind = rng.below(2) == 0 ? "image" : "",
                         .deadline = urgent ? now * 1s : deadline,
                         .max_gpus = max_gpus,
                         .alternatives = max_gpus > 0 ? "" : alternatives[other.below(4)],
                         .cpus = tells_cores ? static_cast<float>(1 + rng.below(8))
                                             : std::numeric_limits<float>::quiet_NaN(),
                         .memory_gb = static_cast<float>(rng.below(10)),
                         .bandwidth_gbs = static_cast<float>(rng.below(30))});
  }
  return made;
}

/// The same where half of the jobs send over links that they share, and half read from afar.
Case day_of_traffic(std::uint64_t seed) {
  Case made = mixed_day(seed);
  for (cluster::NodeClass& make : made.cluster.classes) make.uplink_gbps = 10;
  made.cluster.storage = {.remote_gbs = 2, .cache_gb = 60};
  Rng rng(seed, 5);
  for (trace::Job& job : made.trace.jobs) {
    if (rng.below(2) == 0) {
      job.outcome.step_s = static_cast<float>(1 + rng.below(4));
      job.outcome.network_s = job.outcome.step_s * static_cast<float>(1 + rng.below(4)) / 4;
      if (rng.below(2) == 0) job.outcome.network_gbps = static_cast<float>(1 + rng.below(20));
    }
    if (rng.below(2) == 0) {
      job.outcome.read_gbs = static_cast<float>(1 + rng.below(4));
      const auto data_set = rng.below(6);
      job.request.data_set = made.trace.names.intern(fmt::format("set{}", data_set));
      job.request.data_gb = static_cast<float>(10 * (1 + data_set));
    }
  }
  return made;
}

/// Every policy, and every shape, size, throttle and packing under each way of sharing and passing.
std::vector<std::string> every_mix() {
  std::vector<std::string> names;
  for (const policy::Composition& known : registry().policies()) {
    names.push_back(known.name);
    const std::string shares = known.name + "+harmless";
    if (registry().compose(shares)) names.push_back(shares);
  }
  for (const auto* choices : {&registry().shapes.entries(), &registry().sizes.entries(),
                              &registry().throttles.entries(), &registry().packings.entries()}) {
    for (const policy::Entry& choice : *choices) {
      for (const char* base : {"fifo+", "fifo+scan+", "fifo+defragment+", "fifo+profile_first+",
                               "easy+", "conservative+", "drf+", "fifo+arrays+", "fifo+models+",
                               "srtf+", "fifo+harmless+", "fifo+arrays+harmless+"}) {
        // A choice that the registry refuses with a base is not a policy.
        if (registry().compose(base + choice.name)) names.push_back(base + choice.name);
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class EveryMix : public testing::TestWithParam<std::string> {
 protected:
  static Case day(std::uint64_t seed) {
    Case made = mixed_day(seed);
    made.policy = GetParam();
    return made;
  }
};

TEST_P(EveryMix, IsInTimeWithNoUrgentJob) {
  const Case input = day(1);
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  std::size_t with_deadline = 0;
  std::size_t urgent = 0;
  std::size_t in_time = 0;
  for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
    const trace::Job& asked = input.trace.jobs[job];
    if (asked.request.deadline == kNoTime) continue;
    ++with_deadline;
    const bool at_once = asked.request.deadline <= asked.request.submit;
    urgent += at_once && asked.outcome.run > Duration{0} ? 1 : 0;
    const sim::JobResult& told = played->result.jobs[job];
    in_time += told.end != kNoTime && told.end <= asked.request.deadline ? 1 : 0;
  }
  EXPECT_GT(urgent, 0U);
  EXPECT_LE(in_time, with_deadline - urgent);
}

TEST_P(EveryMix, KeepsTheRules) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Case input = day(seed);
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    // Nodes come and go.
    input.cluster.changes = {{.at = Time{1h}, .vc = VcId{0}, .nodes = 2},
                             {.at = Time{2h}, .vc = VcId{0}, .nodes = 4}};
    const Result<Played> drained = play(input);
    ASSERT_TRUE(drained) << to_string(drained.error());
    EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{}) << "seed " << seed;
  }
}

TEST_P(EveryMix, KeepsTheRulesWithTraffic) {
  Case input = day_of_traffic(2);
  input.policy = GetParam();
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  input.cluster.changes = {{.at = Time{1h}, .vc = VcId{0}, .nodes = 2},
                           {.at = Time{2h}, .vc = VcId{0}, .nodes = 4}};
  const Result<Played> drained = play(input);
  ASSERT_TRUE(drained) << to_string(drained.error());
  EXPECT_EQ(broken_rules(input, *drained), std::vector<std::string>{});
}

TEST_P(EveryMix, KeepsTheRulesWhereNodesFail) {
  expect_rules_where_nodes_fail(day(4), 4);
  Case input = day_of_traffic(1);
  input.policy = GetParam();
  expect_rules_where_nodes_fail(std::move(input), 1);
}

TEST_P(EveryMix, ComesToAnEndThoughNodesStayAway) { expect_an_end(day(9)); }

TEST_P(EveryMix, SaysWhyAJobWaitsAndIsNotDisturbed) {
  const Result<Played> alone = play(day(7));
  ASSERT_TRUE(alone) << to_string(alone.error());
  for (const JobId job : jobs_to_ask(GetParam(), 100)) {
    Case input = day(7);
    input.options.watch.job = job;
    const Result<Played> watched = play(input);
    ASSERT_TRUE(watched);
    Duration waited{0};
    for (const sim::Wait& wait : watched->result.waits) {
      EXPECT_NE(wait.reason.other, job) << "it waits for itself";
      if (wait.reason.kind == policy::ReasonKind::none) {
        EXPECT_LE(wait.until - wait.from, 1s)
            << "job " << index(job) << " at " << seconds(wait.from);
      }
      waited += wait.until - wait.from;
    }
    const sim::JobResult& told = watched->result.jobs[index(job)];
    if (told.phase != policy::Phase::ended) continue;
    const Time submit = input.trace.jobs[index(job)].request.submit;
    EXPECT_EQ(waited, told.end - submit - told.ran) << "job " << index(job);
    EXPECT_EQ(told.end, alone->result.jobs[index(job)].end) << "job " << index(job);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMix, testing::ValuesIn(every_mix()), test_name);

template <typename Choices>
void expect_described(const Choices& choices) {
  std::set<std::string> names;
  std::set<std::string> summaries;
  for (const auto& choice : choices) {
    EXPECT_FALSE(choice.summary.empty()) << choice.name;
    EXPECT_FALSE(choice.source.empty()) << choice.name;
    EXPECT_TRUE(names.insert(choice.name).second) << choice.name;
    EXPECT_TRUE(summaries.insert(choice.summary).second) << choice.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Registry, DescribesEveryChoiceOnceAndNamesItsSource) {
  expect_described(registry().policies());
  expect_described(registry().orders.entries());
  expect_described(registry().placements.entries());
  expect_described(registry().capacities.entries());
  expect_described(registry().sizes.entries());
  expect_described(registry().throttles.entries());
  expect_described(registry().divisions.entries());
  expect_described(registry().shapes.entries());
  expect_described(registry().estimates.entries());
}

TEST(Registry, UsesANameForOneSlotOnly) {
  std::set<std::string> names;
  for (const policy::Registry::Slot& slot : registry().slots()) {
    for (const policy::Entry& choice : slot.choices->entries()) {
      EXPECT_TRUE(names.insert(choice.name).second) << choice.name << " would be ambiguous";
    }
  }
}

TEST(Registry, SaysOfItsChoicesWhatTheyDo) {
  for (const policy::Entry& size : registry().sizes.entries()) {
    const auto made = registry().sizes.make(size.name);
    EXPECT_EQ(size.traits.has.has(policy::Trait::deals_out), made && made->deals_out())
        << size.name;
  }
  for (const policy::Entry& order : registry().orders.entries()) {
    const auto made = registry().orders.make(order.name);
    EXPECT_EQ(order.traits.has.has(policy::Trait::reads_run_times), made->needs_estimate())
        << order.name;
  }
  for (const policy::Composition& known : registry().policies()) {
    EXPECT_TRUE(registry().checked(known)) << known.name;
    const bool leased = registry().traits(known).has(policy::Trait::leases);
    EXPECT_EQ(leased, registry().lease(known) > Duration{0}) << known.name;
  }
}

TEST(Registry, ReadsEveryParameterAsItWritesIt) {
  for (const policy::Registry::Slot& slot : registry().slots()) {
    for (const policy::Entry& choice : slot.choices->entries()) {
      policy::Choice told = choice.name;
      for (const policy::Parameter& each : choice.parameters) {
        EXPECT_TRUE(check_values(each, each.usual)) << choice.name << " " << each.name;
        told.told[each.name] = each.usual;
        const std::string text = to_string(told, choice.parameters);
        const auto read =
            policy::read_values(choice.parameters, text.substr(choice.name.size() + 1));
        ASSERT_TRUE(read) << text << ": " << to_string(read.error());
        EXPECT_EQ(*read, told.told) << text;
      }
    }
  }
}

}  // namespace
}  // namespace almanac
