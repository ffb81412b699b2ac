// SPDX-License-Identifier: Apache-2.0

/// \file
/// The promise of AntMan through the ordinary engine: to guaranteed jobs it is all one whether
/// there are opportunistic ones.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/play.h"

namespace almanac {
namespace {

/// Seconds after the one before, GPUs, seconds of work, which model, and whether red asks it.
using Asked = std::tuple<int, int, int, int, bool>;

/// Three nodes of four GPUs, of which all and more are guaranteed to red.
Case case_of(const std::vector<Asked>& jobs, bool with_guests) {
  static const std::vector<std::string> kModels{"quiet", "loud", "harsh", "loads", "computes"};
  Case made;
  made.policy = "antman";
  made.speed = "linear";
  made.cluster.add_vc("all");
  made.cluster.add_nodes({.gpus = 4}, 3);
  made.cluster.takes_every_job = true;
  made.cluster.tenants.push_back({.name = "red", .guarantee = 1'000});
  int submit = 0;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const auto& [gap, gpus, run, model, is_red] = jobs[at];
    submit += gap;
    if (!is_red && !with_guests) continue;
    add_job(made.trace, {.id = std::to_string(at),
                         .submit = submit * 1s,
                         .gpus = gpus,
                         .run = run * 1s,
                         .user = is_red ? "red" : "guest",
                         .model = kModels[static_cast<std::size_t>(model)]});
  }
  return made;
}

RC_GTEST_PROP(AntMan, GuaranteedJobsRunAsIfNobodyElseWereThere, ()) {
  const auto jobs = *rc::gen::container<std::vector<Asked>>(
      rc::gen::tuple(rc::gen::inRange(0, 30), rc::gen::inRange(1, 9), rc::gen::inRange(1, 100),
                     rc::gen::inRange(0, 5), rc::gen::arbitrary<bool>()));
  const auto together = play(case_of(jobs, true));
  const auto alone = play(case_of(jobs, false));
  RC_ASSERT(together && alone);
  RC_ASSERT(together->faults.empty());
  std::size_t of_red = 0;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const sim::JobResult& result = together->result.jobs[at];
    RC_ASSERT(result.end != kNoTime);
    if (!std::get<4>(jobs[at])) continue;
    RC_ASSERT(result.start == alone->result.jobs[of_red].start);
    RC_ASSERT(result.end == alone->result.jobs[of_red].end);
    RC_ASSERT(result.preemptions == 0U);
    ++of_red;
  }
}

}  // namespace
}  // namespace almanac
