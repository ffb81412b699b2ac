// SPDX-License-Identifier: Apache-2.0

/// \file
/// Deadlines that can be promised are met, whatever other jobs there are.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/draft.h"

namespace almanac {
namespace {

// Jobs with deadlines that together ask no more GPUs than there are can all be promised theirs, if
// a lease that has begun is all that they must wait for. With exact run times they then end in
// time, past all jobs without a deadline and though stopping costs more than a short lease.
RC_GTEST_PROP(Promises, AreKeptWhereThereIsRoomForAllOfThem, ()) {
  const DraftLimits limits{.shortest_run = 1};
  Case input = to_case(*drafts(limits), limits);
  const std::int64_t lease = *rc::gen::inRange<std::int64_t>(5, 60);
  input.policy =
      *rc::gen::element<std::string>("chronus", "elasticflow") + "+lease:" + std::to_string(lease);
  std::map<NameId, int> left;
  for (trace::Job& job : input.trace.jobs) {
    trace::Request& request = job.request;
    const VcId vc = input.cluster.find_vc(input.trace.names[request.vc]);
    const int free = left.try_emplace(request.vc, input.cluster.gpus(vc)).first->second;
    if (request.gpus > free || *rc::gen::inRange(0, 2) == 0) continue;
    left[request.vc] = free - request.gpus;
    const auto slack = *rc::gen::inRange<std::int64_t>(0, 200);
    request.deadline = request.submit + job.outcome.run + (lease + slack) * 1s;
  }
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    const Time deadline = input.trace.jobs[job].request.deadline;
    if (deadline == kNoTime) continue;
    RC_LOG() << "job " << job << " ended at " << seconds(played->result.jobs[job].end)
             << ", due at " << seconds(deadline) << '\n';
    RC_ASSERT(played->result.jobs[job].end <= deadline);
  }
}

}  // namespace
}  // namespace almanac
