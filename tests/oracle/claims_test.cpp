// SPDX-License-Identifier: Apache-2.0

/// \file
/// What papers claim of fair policies, on random cases: nobody is worse off than with a part of the
/// cluster of its own (sharing incentive), nobody can have more without another having less (Pareto
/// efficiency), and nobody gains by asking for something else than is needed (strategy-proofness).
///
/// The proofs are of goods that can be divided; jobs are whole, so each holds up to a few of them.
/// Source   Ghodsi et al., NSDI'11 (DRF), section 6; Parkes et al., EC'12: of whole jobs no policy
///          has all three to the last one.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/play.h"

namespace almanac {
namespace {

constexpr int kGpus = 60;
constexpr int kCores = 240;
constexpr int kMemory_gb = 960;
constexpr std::array<double, 3> kAll = {kGpus, kCores, kMemory_gb};

/// What each job of a user needs: GPUs, cores, GB.
using Needs = std::array<int, 3>;

Needs draw_needs() {
  return {*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 16), *rc::gen::inRange(1, 64)};
}

/// The largest part of any resource that a job takes.
double dominant(const Needs& needs) {
  double most = 0;
  for (std::size_t at = 0; at < kAll.size(); ++at) most = std::max(most, needs[at] / kAll[at]);
  return most;
}

/// How many jobs of each user start at once under drf where each has more than there is room for.
std::vector<int> started(const std::vector<Needs>& users) {
  Case input;
  input.policy = "drf";
  input.cluster.takes_every_job = true;
  input.cluster.add_vc("all");
  input.cluster.add_nodes({.gpus = kGpus, .cpus = kCores, .memory_gb = kMemory_gb}, 1);
  for (int job = 0; job < kGpus; ++job) {
    for (std::size_t user = 0; user < users.size(); ++user) {
      add_job(input.trace, {.id = fmt::format("{}-{}", user, job),
                            .gpus = users[user][0],
                            .run = 100s,
                            .user = std::to_string(user),
                            .cpus = static_cast<float>(users[user][1]),
                            .memory_gb = static_cast<float>(users[user][2])});
    }
  }
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  std::vector<int> count(users.size(), 0);
  for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
    if (played->result.jobs[job].start == Time{0s}) ++count[job % users.size()];
  }
  return count;
}

std::vector<Needs> draw_users() {
  const auto number = *rc::gen::inRange<std::size_t>(2, 6);
  std::vector<Needs> users;
  while (users.size() < number) users.push_back(draw_needs());
  return users;
}

double sum_of_dominant(const std::vector<Needs>& users) {
  return std::accumulate(users.begin(), users.end(), 0.0,
                         [](double sum, const Needs& each) { return sum + dominant(each); });
}

// Who is refused has the least share of all, give or take one job each, and what it needs is full.
RC_GTEST_PROP(DominantResourceFairness, IsAnIncentiveToShare, ()) {
  const std::vector<Needs> users = draw_users();
  const std::vector<int> count = started(users);
  const double parts = static_cast<double>(users.size());
  for (std::size_t user = 0; user < users.size(); ++user) {
    const double share = count[user] * dominant(users[user]);
    RC_ASSERT(share > (1 - sum_of_dominant(users)) / parts - 1e-9);
  }
}

RC_GTEST_PROP(DominantResourceFairness, IsParetoEfficient, ()) {
  const std::vector<Needs> users = draw_users();
  const std::vector<int> count = started(users);
  for (const Needs& more : users) {
    bool fits = true;
    for (std::size_t at = 0; at < kAll.size(); ++at) {
      double taken = more[at];
      for (std::size_t user = 0; user < users.size(); ++user) {
        taken += count[user] * users[user][at];
      }
      fits = fits && taken <= kAll[at];
    }
    RC_ASSERT(!fits);
  }
}

// What is asked beside what is needed is of no use; with less than is needed no job runs on its
// own, but what several have may be enough for one.
RC_GTEST_PROP(DominantResourceFairness, LeavesNothingToGainByALie, ()) {
  const std::vector<Needs> users = draw_users();
  const Needs lie = draw_needs();
  const int truth = started(users).front();
  std::vector<Needs> told = users;
  told.front() = lie;
  const int had = started(told).front();
  int of_use = kGpus;
  for (std::size_t at = 0; at < kAll.size(); ++at) {
    of_use = std::min(of_use, had * lie[at] / users.front()[at]);
  }
  const double gain = (of_use - truth) * dominant(users.front());
  RC_ASSERT(gain <= sum_of_dominant(users) + dominant(lie));
}

/// One job of one GPU of each user, all at once, on GPUs of one type.
struct Crowd {
  int gpus = 1;
  std::vector<std::int64_t> runs_s{};
};

Crowd draw_crowd() {
  Crowd made{.gpus = *rc::gen::inRange(1, 5)};
  const auto users = *rc::gen::inRange<std::size_t>(1, 9);
  while (made.runs_s.size() < users) made.runs_s.push_back(*rc::gen::inRange(1, 2000));
  return made;
}

/// How much later than on a part of the cluster of its own the job ends that suffers most.
Duration most_lost(const Crowd& crowd, const std::string& policy) {
  Case input;
  input.policy = policy;
  input.cluster = cluster::uniform(1, crowd.gpus);
  input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s, .launch = 0s};
  for (std::size_t user = 0; user < crowd.runs_s.size(); ++user) {
    const std::string name = std::to_string(user);
    add_job(input.trace, {.id = name, .run = crowd.runs_s[user] * 1s, .user = name});
  }
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  const double share = std::max(1.0, static_cast<double>(crowd.runs_s.size()) / crowd.gpus);
  Duration most{0};
  for (std::size_t user = 0; user < crowd.runs_s.size(); ++user) {
    const Duration alone{std::llround(1000 * share * static_cast<double>(crowd.runs_s[user]))};
    most = std::max(most, played->result.jobs[user].end.time_since_epoch() - alone);
  }
  return most;
}

// In leases of 10 s jobs take turns: who is due its last second waits for a turn, and a lease more
// where GPUs do not divide the jobs.
RC_GTEST_PROP(SharingIncentive, HoldsUpToATurn, ()) {
  const Crowd crowd = draw_crowd();
  const double turn = static_cast<double>(crowd.runs_s.size()) / crowd.gpus;
  for (const char* policy : {"themis:10", "gandiva_fair:10", "gavel:fairness:10:0",
                             "gavel:finish_time:10:0", "astraea:10"}) {
    RC_LOG() << policy << '\n';
    RC_ASSERT(seconds(most_lost(crowd, policy)) <= 10 * (turn + 1));
  }
}

}  // namespace
}  // namespace almanac
