// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whoever starts a job starts it off a node that failed lately while another will do: every policy
/// but those that pack nodes by themselves, the age cap, and what keeps replicas.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/names.h"
#include "experiment/profile.h"
#include "policy/kit/keeping.h"
#include "policy/registry.h"
#include "support/play.h"
#include "support/witness.h"

namespace almanac {
namespace {

using policy::registry;
using policy::Trait;

constexpr Duration kDown = 300s;
constexpr Duration kBack = 400s;
constexpr Duration kLater = 20'000s;

/// Three idle nodes; A runs on one of them, and B comes long after A has ended.
Case two_jobs(const std::string& policy) {
  Case made;
  made.policy = policy;
  made.cluster = cluster::uniform(3, 4);
  for (const auto& [id, submit] : {std::pair("A", Duration{0}), std::pair("B", kLater)}) {
    add_job(made.trace, {.id = id,
                         .submit = submit,
                         .gpus = 4,
                         .run = 2'000s,
                         .limit = 4'000s,
                         .predicted = 2'000s,
                         .checkpoint = 1s});
  }
  return made;
}

/// The same, of jobs that tell of their training and may run on one to four GPUs.
Case two_elastic_jobs(const std::string& policy) {
  Case made = two_jobs(policy);
  made.elastic = "elastic.toml";
  for (trace::Job& job : made.trace.jobs) {
    job.request.model = made.trace.names.intern("linear");
    job.request.gpus = 1;
    job.request.max_gpus = 4;
  }
  return made;
}

/// A node that A holds when it goes down.
NodeId first_node(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const bool is_there = run.start <= Time{kDown} && run.end > Time{kDown};
    if (run.job == JobId{0} && is_there) return run.grants.front().node;
  }
  ADD_FAILURE() << "A does not run";
  return NodeId{};
}

cluster::Incidents failure_of(NodeId node) {
  using Kind = cluster::Incident::Kind;
  const auto subject = static_cast<std::uint32_t>(index(node));
  cluster::Incidents made;
  made.all = {{Time{kDown}, Kind::down, subject}, {Time{kBack}, Kind::up, subject}};
  return made;
}

/// Expects that `runs` has runs of B, none of them on `node`.
void expect_off(NodeId node, const std::vector<Run>& runs) {
  int of_b = 0;
  for (const Run& run : runs) {
    if (run.job != JobId{1}) continue;
    ++of_b;
    for (const cluster::Grant& grant : run.grants) EXPECT_NE(grant.node, node);
  }
  EXPECT_GT(of_b, 0);
}

std::vector<std::string> policies_with(bool elastic) {
  // HiveD's cells say which GPUs a tenant has; Synergy packs all jobs of a lease at once.
  const std::set<std::string> pack_themselves{"hived", "synergy_opt", "synergy_tune"};
  std::vector<std::string> names;
  for (const policy::Composition& known : registry().policies()) {
    const bool is_elastic = registry().traits(known).has(Trait::chooses_gpus);
    if (elastic ? is_elastic : !pack_themselves.contains(known.name)) names.push_back(known.name);
  }
  return names;
}

std::vector<Run> runs_of(const Case& input) {
  const Result<Played> played = play(input);
  EXPECT_TRUE(played) << to_string(played.error());
  return played ? played->runs : std::vector<Run>();
}

class EveryPolicyAfterAFailure : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicyAfterAFailure, StartsJobsOffTheNodeWhileOthersWillDo) {
  Case input = two_jobs(GetParam());
  const NodeId node = first_node(runs_of(input));
  input.incidents = failure_of(node);
  expect_off(node, runs_of(input));
}

class EveryElasticPolicyAfterAFailure : public testing::TestWithParam<std::string> {};

TEST_P(EveryElasticPolicyAfterAFailure, StartsAndMovesJobsOffTheNodeWhileOthersWillDo) {
  Case input = two_elastic_jobs(GetParam());
  const NodeId node = first_node(runs_of(input));
  input.incidents = failure_of(node);
  expect_off(node, runs_of(input));
}

TEST(AgeCap, StartsJobsOffANodeThatFailedWhileOthersWillDo) {
  Case input = two_jobs("fifo");
  input.age_cap = 0s;
  const NodeId node = first_node(runs_of(input));
  input.incidents = failure_of(node);
  expect_off(node, runs_of(input));
}

TEST(Keeping, StartsReplicasOffANodeThatFailedWhileOthersWillDo) {
  const auto play_kept = [](const Case& input) {
    const auto composition = registry().compose(input.policy);
    experiment::PolicyRun run{.composition = *composition, .restart = input.options.restart};
    auto made = experiment::make_policy(run, input.trace);
    EXPECT_TRUE(made) << to_string(made.error());
    const auto kept = policy::keeping(
        *std::move(made), *composition, [](JobId) { return true; }, policy::IfFull::stop_others);
    Witness witness(*kept);
    sim::Options options = input.options;
    if (input.incidents) options.incidents = &*input.incidents;
    sim::simulate(input.trace, input.cluster, witness, options);
    return witness.runs();
  };
  Case input = two_jobs("srtf");
  const NodeId node = first_node(play_kept(input));
  input.incidents = failure_of(node);
  expect_off(node, play_kept(input));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyAfterAFailure,
                         testing::ValuesIn(policies_with(false)), test_name);
INSTANTIATE_TEST_SUITE_P(Registry, EveryElasticPolicyAfterAFailure,
                         testing::ValuesIn(policies_with(true)), test_name);

}  // namespace
}  // namespace almanac
