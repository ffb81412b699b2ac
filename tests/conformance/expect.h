// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is expected of a policy on a day where nodes go.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "sim/simulation.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {

inline void expect_rules_where_nodes_fail(Case input, std::uint64_t seed) {
  input.options.timeline_interval = 10min;
  input.incidents = bad_day(input, seed);
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
}

/// Stops a simulation that takes more than so many rounds.
class Patience final : public sim::Listener {
 public:
  explicit Patience(int rounds) : left_(rounds) {}
  void hear(Time, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {
    if (--left_ == 0) lost = true;
  }

  std::atomic<bool> lost{false};

 private:
  int left_;
};

/// One node of each virtual cluster is left after an hour, for good: all that fits there runs, and
/// the day ends with the others still waiting.
inline void expect_an_end(Case input) {
  for (std::uint32_t vc = 0; vc < input.cluster.vcs.size(); ++vc) {
    input.cluster.changes.push_back({.at = Time{1h}, .vc = VcId{vc}, .nodes = 1});
  }
  Patience patience(20'000);
  input.options.watch.listener = &patience;
  input.options.watch.stop = &patience.lost;
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_FALSE(played->result.interrupted) << "it never ends";
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  std::size_t left_waiting = 0;
  for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
    const sim::JobResult told = played->result.jobs[job];
    EXPECT_NE(told.phase, policy::Phase::running) << "job " << job;
    left_waiting += told.phase == policy::Phase::waiting ? 1 : 0;
  }
  EXPECT_GT(left_waiting, 0U);
}

}  // namespace almanac
