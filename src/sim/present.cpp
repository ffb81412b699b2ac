// SPDX-License-Identifier: Apache-2.0
#include "sim/present.h"

#include <algorithm>
#include <optional>

namespace almanac::sim {

using policy::Phase;

Present present_of(const schedule::Round& round, const cluster::Cluster& cluster,
                   std::size_t num_jobs, const policy::Telemetry* telemetry, Time now,
                   const Pauses& pauses) {
  Present made{.at = now, .running = {}, .waiting = {}, .drained = {}};
  for (std::uint32_t at = 0; at < num_jobs; ++at) {
    const JobId job{at};
    const policy::Progress& state = round.progress(job);
    const bool runs = state.phase == Phase::running;
    Time since = state.since;
    if (state.phase == Phase::withdrawn) {
      const auto pause = pauses.find(job);
      if (pause == pauses.end() || pause->second <= now) continue;
      since = pause->second;
    } else if (!runs && state.phase != Phase::waiting) {
      continue;
    }
    const Duration ran = runs ? state.attained + (now - state.since) : state.attained;
    const auto worked = telemetry == nullptr ? std::nullopt : telemetry->worked(job, now);
    Present::Job& entry = (runs ? made.running : made.waiting)
                              .emplace_back(Present::Job{.job = job,
                                                         .past = {.since = since,
                                                                  .start = state.start,
                                                                  .attained = state.attained,
                                                                  .charged = state.charged,
                                                                  .preemptions = state.preemptions},
                                                         .worked = worked.value_or(ran)});
    if (!runs) continue;
    const auto held = round.grants(job);
    entry.held.assign(held.begin(), held.end());
  }
  for (std::vector<Present::Job>* jobs : {&made.running, &made.waiting}) {
    std::stable_sort(jobs->begin(), jobs->end(), [](const Present::Job& a, const Present::Job& b) {
      return a.past.since < b.past.since;
    });
  }
  for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
    if (round.ledger().drained(NodeId{node})) made.drained.push_back(NodeId{node});
  }
  return made;
}

std::vector<JobId> throttled_tasks(const schedule::Round& round, const trace::Trace& trace,
                                   Time now) {
  std::vector<JobId> made;
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Request& request = trace.jobs[at].request;
    if (request.submit > now) break;
    if (request.array_limit > 0 && round.progress(JobId{at}).phase == Phase::unknown) {
      made.push_back(JobId{at});
    }
  }
  return made;
}

}  // namespace almanac::sim
