// SPDX-License-Identifier: Apache-2.0

/// \file
/// No job is stopped in vain, whatever other jobs there are and whatever nodes are drained.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/draft.h"

namespace almanac {
namespace {

/// Some virtual clusters shrink, and some of those grow again.
void drain_some(Case& input) {
  for (std::uint32_t vc = 0; vc < input.cluster.vcs.size(); ++vc) {
    const int nodes = static_cast<int>(input.cluster.vcs[vc].num_nodes);
    const auto at = *rc::gen::inRange<std::int64_t>(0, 120);
    const int left = *rc::gen::inRange(0, nodes + 1);
    input.cluster.changes.push_back({.at = Time{at * 1s}, .vc = VcId{vc}, .nodes = left});
    if (*rc::gen::arbitrary<bool>()) continue;
    input.cluster.changes.push_back({.at = Time{(at + 60) * 1s}, .vc = VcId{vc}, .nodes = nodes});
  }
  std::stable_sort(input.cluster.changes.begin(), input.cluster.changes.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
}

/// Half of the jobs want to have ended soon after they could have.
void give_deadlines(Case& input) {
  for (trace::Job& job : input.trace.jobs) {
    if (*rc::gen::arbitrary<bool>()) continue;
    const auto slack = *rc::gen::inRange<std::int64_t>(0, 200);
    job.request.deadline = job.request.submit + job.outcome.run + slack * 1s;
  }
}

bool share_a_node(const Run& a, const Run& b) {
  return std::any_of(a.last().begin(), a.last().end(), [&](const cluster::Grant& held) {
    return std::any_of(b.grants.begin(), b.grants.end(),
                       [&](const cluster::Grant& taken) { return taken.node == held.node; });
  });
}

/// A job that is stopped makes way for one that starts there in that instant.
void expect_no_stop_in_vain(const DraftLimits& limits) {
  Case input = to_case(*drafts(limits), limits);
  input.policy = *rc::gen::element<std::string>("srtf", "las", "gittins", "srtf+best_fit",
                                                "promise", "fifo+lease:20", "srtf+lease:20",
                                                "chronus+lease:20", "fifo+arrays");
  RC_LOG() << input.policy << '\n';
  drain_some(input);
  give_deadlines(input);
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  for (const Run& stopped : played->runs) {
    if (!stopped.stopped) continue;
    RC_LOG() << "job " << index(stopped.job) << " is stopped at " << seconds(stopped.end) << '\n';
    RC_ASSERT(std::any_of(played->runs.begin(), played->runs.end(), [&](const Run& run) {
      return run.job != stopped.job && run.start == stopped.end && share_a_node(stopped, run);
    }));
  }
}

RC_GTEST_PROP(Eviction, StopsNobodyInVain, ()) { expect_no_stop_in_vain({.shortest_run = 1}); }

RC_GTEST_PROP(Eviction, StopsNobodyInVainForCoresOrParts, ()) {
  expect_no_stop_in_vain({.gpus = 4, .shortest_run = 1, .cores = true, .parts = true});
}

}  // namespace
}  // namespace almanac
