// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job as the controller keeps it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "slurmctld/jobs/submission.h"

namespace almanac::slurmctld {

/// Number of a job. Tasks of arrays get one of their own when they start.
using JobNumber = std::uint32_t;
/// Position in Site::partitions.
using PartitionAt = std::uint32_t;

/// Slurm's name of a reason, such as "Resources" or "QOSMaxGRESPerUser". Points to static text.
using ReasonName = std::string_view;

inline constexpr ReasonName kNone = "None";
inline constexpr ReasonName kPriority = "Priority";
inline constexpr ReasonName kResources = "Resources";
inline constexpr ReasonName kDependency = "Dependency";
inline constexpr ReasonName kDependencyNeverSatisfied = "DependencyNeverSatisfied";
inline constexpr ReasonName kBeginTime = "BeginTime";
inline constexpr ReasonName kJobHeldUser = "JobHeldUser";
inline constexpr ReasonName kJobHeldAdmin = "JobHeldAdmin";
inline constexpr ReasonName kJobArrayTaskLimit = "JobArrayTaskLimit";
inline constexpr ReasonName kLicenses = "Licenses";
inline constexpr ReasonName kReservation = "Reservation";
inline constexpr ReasonName kReqNodeNotAvail = "ReqNodeNotAvail";
inline constexpr ReasonName kMayBeReserved = "ReqNodeNotAvail, May be reserved for other job";
inline constexpr ReasonName kNodesUnavailable =
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";
inline constexpr ReasonName kPartitionDown = "PartitionDown";
inline constexpr ReasonName kPartitionInactive = "PartitionInactive";
inline constexpr ReasonName kPartitionConfig = "PartitionConfig";
inline constexpr ReasonName kPartitionNodeLimit = "PartitionNodeLimit";
inline constexpr ReasonName kPartitionTimeLimit = "PartitionTimeLimit";
inline constexpr ReasonName kBadConstraints = "BadConstraints";
/// A limit that the host keeps instead of the controller.
inline constexpr ReasonName kHostLimit = "AssocGrpGRES";

struct Job {
  JobNumber number = 0;
  JobNumber array = 0;  ///< The array that it is a task of; its own number otherwise.
  int task = -1;        ///< Of an array, once it has started.
  Submission ask{};
  int extra_tier = 0;                             ///< Added to the PriorityTier of its partitions.
  std::uint32_t shape = 0;                        ///< Equal for equal requests.
  std::vector<PartitionAt> partitions{};          ///< By tier, highest first.
  std::uint32_t association = ~std::uint32_t{0};  ///< Position in Site::associations.
  std::uint32_t qos = ~std::uint32_t{0};          ///< Position in Site::qos.
  Seconds submit = 0;
  Seconds eligible = kNoSeconds;  ///< kNoSeconds: it must not start yet.
  Seconds start = kNoSeconds;
  Seconds end = kNoSeconds;  ///< By its time limit; once it runs.
  int running_tasks = 0;     ///< Of an array.
  bool is_held = false;
  bool is_running = false;
  PartitionAt runs_in = 0;
  Allocation allocation{};
  site::TresCounts held{};  ///< What limits count of it while it runs.
  Seconds limit_left = 0;   ///< Of its time limit, when limits on run minutes were last counted.
  ReasonName reason = kNone;
  Seconds preempting_until = 0;        ///< While the jobs that make room for it are ending.
  Seconds planned_start = kNoSeconds;  ///< By backfill's last cycle.
  /// Whether it would have fit without any promise, when backfill last looked.
  struct FitNow {
    PartitionAt partition = 0;
    std::uint64_t version = 0;  ///< Of the partition's zone (State::version); 0 = never.
    bool fits = false;
  } fit_now{};

  bool is_array() const { return !ask.tasks.empty(); }
};

}  // namespace almanac::slurmctld
