// SPDX-License-Identifier: Apache-2.0

/// \file
/// What holds wherever jobs claim quotas.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/draft.h"

namespace almanac {
namespace {

const DraftLimits kInexactDrafts{.exact = false};

/// Each way of going through a queue.
std::string any_policy() {
  return *rc::gen::element<std::string>(
      "fifo", "sjf+oracle", "easy+limit", "qssf+easy:1", "fifo+easy:3+limit", "conservative+limit",
      "fifo+scan", "fifo+relax", "fifo+defragment", "fifo+models", "drf", "srtf",
      "srtf+helios_count", "las", "gittins", "coda", "fifo+lease:7", "sjf+oracle+lease:7",
      "chronus+lease:7", "elasticflow+lease:7", "thrift+lease:7", "tiresias", "yarn_cs", "afs",
      "hived");
}

/// Some jobs want to have ended soon after they could have.
void give_deadlines(Case& input) {
  for (trace::Job& job : input.trace.jobs) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    const auto slack = *rc::gen::inRange<std::int64_t>(0, 100);
    job.request.deadline = job.request.submit + job.outcome.run + slack * 1s;
  }
}

/// Up to three quotas; each job counts for some and asks them.
policy::Quotas any_quotas(const Case& input) {
  policy::Quotas made;
  const int count = *rc::gen::inRange(1, 4);
  for (int quota = 0; quota < count; ++quota) made.add(*rc::gen::inRange(0, 12));
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    policy::Quotas::Claim claim{.gpus = input.trace.jobs[job].request.gpus};
    for (std::uint32_t quota = 0; quota < static_cast<std::uint32_t>(count); ++quota) {
      if (*rc::gen::arbitrary<bool>()) claim.counted.push_back(quota);
    }
    claim.asked = claim.counted;
    made.put(JobId{job}, made.claim(claim));
  }
  return made;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "\n  " + sentence;
  return text;
}

RC_GTEST_PROP(Quotas, AreKeptAtEveryMoment, ()) {
  Case input = to_case(*drafts(kInexactDrafts), kInexactDrafts);
  input.policy = any_policy();
  RC_LOG() << input.policy << '\n';
  give_deadlines(input);
  input.quotas = any_quotas(input);
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  RC_ASSERT(joined(played->faults) == "");
  for (const Run& moment : played->runs) {
    policy::Quotas held = *input.quotas;
    for (const Run& run : played->runs) {
      if (run.start > moment.start || run.end <= moment.start) continue;
      RC_ASSERT(held.has_room(held.of(run.job)));
      held.take(held.of(run.job));
    }
  }
}

/// Any policy that a log without more can be played under, of whole ones too.
std::string any_policy_at_all() {
  return *rc::gen::oneOf(
      rc::gen::exec([] { return any_policy(); }),
      rc::gen::element<std::string>("allox", "astraea:7", "cynthia", "fair_share", "fair_srtf:7",
                                    "gandiva_fair:7", "gavel:fairness:7", "gavel:tenants:7",
                                    "gavel_cost:7", "hydra", "jahani", "shockwave:7", "themis:7"));
}

/// Up to four tenants, each at the top or below one before it; each job is of one, or of none.
void give_tenants(Case& input) {
  const int count = *rc::gen::inRange(1, 5);
  for (int at = 0; at < count; ++at) {
    cluster::Tenant& made = input.cluster.tenants.emplace_back();
    made.name = fmt::format("tenant {}", at);
    made.parent = *rc::gen::inRange(-1, at);
    made.guarantee = *rc::gen::inRange(0, 6);
    made.may_borrow = *rc::gen::inRange(0, 3) > 0;
    if (*rc::gen::arbitrary<bool>()) made.limit = made.guarantee + *rc::gen::inRange(0, 5);
  }
  for (trace::Job& job : input.trace.jobs) {
    const int whose = *rc::gen::inRange(0, count + 1);
    if (whose < count) job.request.user = input.trace.names.intern(fmt::format("tenant {}", whose));
  }
}

RC_GTEST_PROP(TenantLimits, AreKeptAtEveryMoment, ()) {
  Case input = to_case(*drafts());
  input.policy = any_policy_at_all();
  RC_LOG() << input.policy << '\n';
  give_tenants(input);
  if (*rc::gen::arbitrary<bool>()) input.quotas = any_quotas(input);
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  RC_ASSERT(joined(played->faults) == "");
  const std::vector<cluster::Tenant>& tenants = input.cluster.tenants;
  for (const Run& moment : played->runs) {
    std::vector<int> held(tenants.size());
    for (const Run& run : played->runs) {
      if (run.start > moment.start || run.end <= moment.start) continue;
      const trace::Request& request = input.trace.jobs[index(run.job)].request;
      const TenantId whose = input.cluster.find_tenant(input.trace.names[request.user]);
      if (whose == kNoTenant) continue;
      for (auto at = static_cast<std::int32_t>(index(whose)); at >= 0;
           at = tenants[static_cast<std::size_t>(at)].parent) {
        held[static_cast<std::size_t>(at)] += request.gpus;
      }
    }
    for (std::size_t at = 0; at < tenants.size(); ++at) {
      RC_ASSERT(held[at] <= tenants[at].limit);
      RC_ASSERT(tenants[at].may_borrow || held[at] <= tenants[at].guarantee);
    }
  }
}

/// A quota that no job reaches is none. All count for it: where jobs of one size claim different
/// things, backfill looks at the first of each.
RC_GTEST_PROP(Quotas, ChangeNothingWhereTheyAreWide, ()) {
  Case input = to_case(*drafts(kInexactDrafts), kInexactDrafts);
  input.policy = any_policy();
  RC_LOG() << input.policy << '\n';
  give_deadlines(input);
  const Result<Played> free = play(input);
  policy::Quotas wide;
  wide.add(1'000'000);
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    const int gpus = input.trace.jobs[job].request.gpus;
    wide.put(JobId{job}, wide.claim({.counted = {0}, .asked = {0}, .gpus = gpus}));
  }
  input.quotas = std::move(wide);
  const Result<Played> bound = play(input);
  RC_ASSERT(free.has_value() && bound.has_value());
  RC_ASSERT(runs_text(input, free->runs) == runs_text(input, bound->runs));
}

/// A job that waits though none holds reservations finds no GPUs, or no room in a quota.
RC_GTEST_PROP(Quotas, KeepNobodyWaitingForWhomThereIsRoom, ()) {
  Case input = to_case(*drafts());
  input.policy = "fifo+scan+first_fit";
  input.quotas = any_quotas(input);
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  std::vector<Time> moments;
  for (const Run& run : played->runs) moments.push_back(run.end);
  for (const trace::Job& job : input.trace.jobs) moments.push_back(job.request.submit);
  for (const Time now : moments) {
    policy::Quotas held = *input.quotas;
    std::map<VcId, int> busy;
    std::set<JobId> begun;
    const auto vc_of = [&](JobId job) {
      const trace::Trace& trace = input.trace;
      return input.cluster.find_vc(trace.names[trace.jobs[index(job)].request.vc]);
    };
    for (const Run& run : played->runs) {
      if (run.start > now) continue;
      begun.insert(run.job);
      if (run.end <= now) continue;
      held.take(held.of(run.job));
      busy[vc_of(run.job)] += input.trace.jobs[index(run.job)].request.gpus;
    }
    for (std::uint32_t at = 0; at < input.trace.jobs.size(); ++at) {
      const JobId job{at};
      const trace::Request& request = input.trace.jobs[at].request;
      if (request.submit > now || begun.contains(job)) continue;
      const int free = input.cluster.gpus(vc_of(job)) - busy[vc_of(job)];
      RC_ASSERT(request.gpus > free || !held.has_room(held.of(job)));
    }
  }
}

}  // namespace
}  // namespace almanac
