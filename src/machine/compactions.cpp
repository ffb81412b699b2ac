// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs of one machine could be moved so that others have room.
#include "machine/core.h"
#include "service/foresight.h"
#include "store/log.h"

namespace almanac::machine {

Result<sim::Compactions> Core::compactions() const {
  const service::Outlook outlook = present();
  trace::Trace trace;
  sim::Present present{.at = outlook.at, .running = {}, .waiting = {}, .drained = outlook.drained};
  for (const service::Outlook::One& one : outlook.jobs) {
    const JobId id{static_cast<std::uint32_t>(trace.jobs.size())};
    trace.jobs.push_back(store::record_of(one.job, trace.names));
    sim::Present::Job job{.job = id, .past = one.past, .worked = one.past.attained};
    if (one.runs) {
      job.worked += outlook.at - one.past.since;
      job.held = one.job.held_gpus;
    }
    (one.runs ? present.running : present.waiting).push_back(std::move(job));
  }
  const auto loses = [&](const sim::Present::Job& job) -> std::optional<Duration> {
    if (!outlook.jobs[index(job.job)].job.asked->requeue) return std::nullopt;
    return job.worked;
  };
  return sim::advise_moves(trace, config_.machine.cluster, present, loses,
                           {.looks = sim::kQuickLooks});
}

}  // namespace almanac::machine
