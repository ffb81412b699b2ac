// SPDX-License-Identifier: Apache-2.0
#include "steer/round_jobs.h"

#include "steer/record.h"
#include "steer/tenants.h"

namespace almanac::steer {

RoundJobs::RoundJobs(Experience& experience, const World& world)
    : experience_(experience), world_(world) {
  experience_.log().jobs.clear();
}

JobId RoundJobs::add(Roll::Member& member) {
  if (!member.request) member.request = experience_.request_of(*member.job, world_);
  return add(*member.job, *member.request, &member.belief);
}

JobId RoundJobs::add(const manager::Job& job, const trace::Request& request,
                     Beliefs::Handle* belief) {
  trace::Trace& log = experience_.log();
  const JobId id{static_cast<std::uint32_t>(log.jobs.size())};
  trace::Job& record = log.jobs.emplace_back();
  record.id = trace::JobKey{static_cast<std::uint64_t>(job.number)};
  record.request = request;
  numbers_.push_back(job.number);
  handles_.push_back(belief);
  if (owns_nodes(world_.grouping) || world_.cluster.takes_every_job) return id;
  // Beliefs depend on the owner of the job, where it may run on its partition.
  experience_.believed(job, record.request);
  record.request.vc = log.names.intern(owner_of_nodes(job, world_));
  return id;
}

schedule::Past RoundJobs::past_of(const manager::Job& job, Time since) const {
  return {.since = since,
          .tenant = tenant_of(world_.tenants, job.account, job.user, job.partition)};
}

std::optional<JobId> RoundJobs::first_task(manager::JobNumber job) const {
  const auto found = first_tasks_.find(job);
  if (found == first_tasks_.end()) return std::nullopt;
  return found->second;
}

}  // namespace almanac::steer
