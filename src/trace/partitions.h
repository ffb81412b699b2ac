// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the Slurm partitions that form one set of nodes. A partition is a view of nodes, and
/// several partitions may show the same nodes; a virtual cluster has nodes of its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "trace/intake.h"

namespace almanac::trace {

/// Filled while a log of sacct is read. Cost: the distinct pairs of partition and node.
class Partitions {
 public:
  /// Returns the partition of a job as sacct prints it: one, or several separated by commas, of
  /// which the first counts. `nodes` is the job's NodeList; "" and anything but a list of nodes is
  /// ignored.
  NameId take(std::string_view partition, std::string_view nodes, Intake& intake);

  /// Gives the jobs of partitions that share nodes one virtual cluster, "debug+gpu", and notes what
  /// was found or assumed. A log of one partition is left as it is.
  void conclude(Intake& intake);

 private:
  std::map<NameId, std::set<std::string>> nodes_;  // by partition; empty if unknown
  std::set<std::pair<NameId, std::string>> seen_;  // lists already expanded
};

/// Adds a note if no job of a Slurm log has a GPU, because accounting may not record GPUs.
void note_no_gpus(Intake& intake);

/// The exact command that prints everything Almanac reads about jobs.
inline constexpr const char* kSacctCommand =
    "sacct -aPXD -S now-60days -o "
    "JobID,JobName,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "State,AllocTRES,ReqTRES,NNodes,NodeList,Priority,Flags,Reason,Restarts,Reservation,"
    "Constraints,SubmitLine";

}  // namespace almanac::trace
