// SPDX-License-Identifier: Apache-2.0
#include "steer/compactions.h"

#include <algorithm>
#include <set>
#include <vector>

#include "steer/freedom.h"
#include "steer/occupancy.h"
#include "steer/record.h"

namespace almanac::steer {
namespace {

JobId add(trace::Trace& trace, const manager::Job& job, const World& world) {
  const JobId id{static_cast<std::uint32_t>(trace.jobs.size())};
  trace::Job& record = trace.jobs.emplace_back();
  record.id = trace::JobKey{static_cast<std::uint64_t>(job.number)};
  record.request = to_request(job, world, trace.names);
  if (!world.cluster.takes_every_job) {
    record.request.vc = trace.names.intern(owner_of_nodes(job, world));
  }
  return id;
}

}  // namespace

sim::Compactions compactions_of(const Mirror& mirror, const World& world,
                                std::span<const manager::JobNumber> queue) {
  trace::Trace trace;
  sim::Present present{.at = mirror.at(), .running = {}, .waiting = {}, .drained = {}};
  Freedom freedom(mirror, world);
  const std::vector<const manager::Job*> running = running_jobs(mirror);
  const std::vector<Occupied> occupied = count_out(world, running);
  std::set<NodeId> left_alone;
  for (const auto& [name, id] : world.nodes) {
    const auto found = mirror.nodes().find(name);
    if (found == mirror.nodes().end() || is_out(found->second)) left_alone.insert(id);
  }
  for (std::size_t at = 0; at < running.size(); ++at) {
    for (const cluster::Grant& grant : occupied[at].stray) left_alone.insert(grant.node);
    const manager::Job& job = *running[at];
    const Time since = job.start == kNoTime ? present.at : std::min(job.start, present.at);
    present.running.push_back({.job = add(trace, job, world),
                               .past = {.since = since, .start = since},
                               .worked = present.at - since,
                               .held = occupied[at].held});
  }
  present.drained.assign(left_alone.begin(), left_alone.end());
  for (const manager::JobNumber number : queue) {
    const manager::Job* const job = mirror.find(number);
    if (job == nullptr || !waits(*job)) continue;
    if (!freedom.has_any_node(*job) || !freedom.lies_on_few_nodes(*job)) continue;
    present.waiting.push_back({.job = add(trace, *job, world)});
  }
  const auto loses = [&](const sim::Present::Job& job) -> std::optional<Duration> {
    const manager::Job& known = *running[index(job.job)];
    if (!freedom.may_move(known)) return std::nullopt;
    return job.worked;
  };
  return sim::advise_moves(trace, world.cluster, present, loses, {.looks = sim::kQuickLooks});
}

}  // namespace almanac::steer
