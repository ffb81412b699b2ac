// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts a job that does not fit although enough GPUs are free, after moving those running jobs
/// to other GPUs whose move costs least.
///
/// Jobs that share GPUs stay where they are. The work that moves lose is bounded per GPU of the job
/// that starts in the room. So over a whole run, no more is lost than that bound per GPU started in
/// this way. A pass that starts jobs again and again must set Limits::only_repaid.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2; volcano-sh/volcano#3948.
/// Differs  Gandiva moves jobs whenever that packs them more tightly; here a job moves only if
///          another starts in the room at once. Racks are ignored (rules/defrag/compaction.h).
/// Cost     A search of at most 200,000 steps for each of the first eight demands of a queue that
///          do not fit although enough is free
#pragma once

#include <vector>

#include "policy/kit/desk.h"
#include "rules/defrag/compaction.h"

namespace almanac::policy {

class RoomByMoves {
 public:
  struct Limits {
    double most_s = 0;         ///< Work that moves may lose for each GPU of the job that starts.
    bool only_repaid = false;  ///< A job moves only once it has gained that cost (kit/gain.h).
  };
  RoomByMoves(Desk& desk, const Limits& limits) : desk_(desk), limits_(limits) {}

  /// Forgets the last queue. Call it before the first start() of a pass.
  void open();
  /// Starts `job`, which waits and does not fit; false = changed nothing. VcState::running must be
  /// kept.
  bool start(VcState& vc, JobId job, const cluster::Demand& demand);

 private:
  void carry_out(VcState& vc, JobId job, const defrag::Compaction& compaction);
  void find_residents(const VcState& vc);

  Desk& desk_;
  Limits limits_;
  std::vector<defrag::Resident> residents_;  // of the virtual cluster that is looked at
  std::vector<cluster::Demand> in_vain_;     // for which no room can be made
};

}  // namespace almanac::policy
