// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which partitions of a Slurm are one set of nodes. A partition is a view on nodes, several may
/// show the same ones; a virtual cluster has nodes of its own.
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
  /// The partition of a job as sacct writes it: one, or several with commas, of which the first is
  /// taken. `nodes` is its NodeList; "" or what is no list of nodes tells nothing.
  NameId take(std::string_view partition, std::string_view nodes, Intake& intake);

  /// Gives the jobs of partitions that share nodes one virtual cluster, "debug+gpu", and notes what
  /// was found or assumed. A log of one partition is left as it is.
  void conclude(Intake& intake);

 private:
  std::map<NameId, std::set<std::string>> nodes_;  // of each partition; empty: not told
  std::set<std::pair<NameId, std::string>> seen_;  // lists already expanded
};

/// Notes where no job of a log of Slurm has a GPU: its accounting may not record them.
void note_no_gpus(Intake& intake);

/// What prints all that is read of a job: the exact command.
inline constexpr const char* kSacctCommand =
    "sacct -aPX -S now-60days -o "
    "JobID,JobName,User,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,State,AllocTRES,ReqTRES,NodeList";

}  // namespace almanac::trace
