// SPDX-License-Identifier: Apache-2.0
#include "steer/aside.h"

#include <algorithm>

#include "steer/mark.h"
#include "steer/world.h"

namespace almanac::steer {
namespace {

/// The controller's clock may be so much ahead of what we take for it (slurm/doctor.h): what it has
/// just let begin is not to begin later.
constexpr Duration kClocks = 5s;

/// Slurm's words for a limit that keeps a job, not the lack of nodes.
///
/// Source   Slurm's job_state_reason names: every WAIT_QOS_*, WAIT_ASSOC_*.
bool is_limit(std::string_view reason) {
  return reason.starts_with("QOS") || reason.starts_with("Assoc") ||
         reason.starts_with("MaxJobsPer") || reason.starts_with("MaxCpuPer") ||
         reason.starts_with("MaxMemPer") || reason.starts_with("MaxTRES") ||
         reason.starts_with("InvalidQOS") || reason.starts_with("InvalidAccount") ||
         reason == "Licenses" || reason == "JobArrayTaskLimit" || reason == "PartitionTimeLimit" ||
         reason == "PartitionNodeLimit" || reason == "BadConstraints";
}

}  // namespace

bool is_exempt(const manager::Job& job, const Exempt& exempt) {
  if (exempt.users.contains(job.user) || exempt.accounts.contains(job.account) ||
      exempt.qos.contains(job.qos)) {
    return true;
  }
  if (exempt.partitions.empty()) return false;
  const auto names = split_names(job.partition);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return exempt.partitions.contains(each); });
}

Aside aside(const manager::Job& job, const Mirror& mirror, const Exempt& exempt, Time now) {
  if (is_exempt(job, exempt)) return Aside::exempt;
  if (job.held) return Aside::held;
  if (!job.dependency.empty()) return Aside::depends;
  // Slurm's word for it stays until Slurm looks again, long after the time has come.
  const bool is_later =
      job.eligible == kNoTime ? job.reason == "BeginTime" : job.eligible > now + kClocks;
  if (is_later && !is_leased(job, now)) return Aside::begins_later;
  if (job.het != manager::JobNumber{}) return Aside::heterogeneous;
  if (!job.reservation.empty()) return Aside::reserved;
  if (is_limit(job.reason)) return Aside::limited;
  bool known = false;
  bool up = false;
  for (const std::string& name : split_names(job.partition)) {
    const manager::Partition* const partition = mirror.find_partition(name);
    known = known || partition != nullptr;
    up = up || (partition != nullptr && partition->up);
  }
  if (!known) return Aside::no_partition;
  return up ? Aside::no : Aside::partition_down;
}

std::string_view to_words(Aside why) {
  switch (why) {
    case Aside::no:
      return "waits for the policy";
    case Aside::held:
      return "is held";
    case Aside::begins_later:
      return "has a later start time";
    case Aside::depends:
      return "depends on a job that has not ended";
    case Aside::partition_down:
      return "is in a partition that is down";
    case Aside::no_partition:
      return "is in a partition that Slurm does not report";
    case Aside::heterogeneous:
      return "is part of a heterogeneous job, which policies do not schedule";
    case Aside::reserved:
      return "runs in a reservation, which policies do not schedule";
    case Aside::limited:
      return "has reached a limit in Slurm";
    case Aside::at_quota:
      return "requests more GPUs than the quota of its account or QOS has left";
    case Aside::elsewhere:
      return "waits for nodes that it requests: none of them has room, or is in service";
    case Aside::in_vain:
      return "was due to start but Slurm did not start it; other jobs go first for a while";
    case Aside::exempt:
      return "is exempt: Almanac leaves it to Slurm";
  }
  return "";
}

}  // namespace almanac::steer
