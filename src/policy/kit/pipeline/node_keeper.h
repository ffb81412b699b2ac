// SPDX-License-Identifier: Apache-2.0

/// \file
/// Powers nodes down and boots them, as the capacity slot decides and as waiting jobs need.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/desk.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Cost     O(1) per event while no node of its virtual cluster sleeps or boots; otherwise a walk
///          over the jobs that would start if all nodes were on. O(nodes) once per period.
class NodeKeeper {
 public:
  /// With `strict`, no job passes one that cannot be placed. With `binds`, the caller must call
  /// bind().
  NodeKeeper(Desk& desk, std::unique_ptr<Capacity> capacity, bool strict, bool binds);

  /// Starts the first waiting job that would run if no node slept or booted, on nodes that it wakes
  /// or that already boot. The job begins once they are on, whatever becomes free before. Returns
  /// whether there was one.
  bool bind(VcState& vc);

  /// Plans after the jobs of a decision. `touched` are the virtual clusters with a change.
  void run(std::span<const VcState> vcs, std::span<const VcId> touched);
  /// Whether `job`, which waits in `vc`, would run now if no node slept or booted.
  bool holds_back(VcId vc, JobId job) const;

 private:
  /// The nodes of one virtual cluster that are not on, by number. Nodes that were drained meanwhile
  /// may still be listed.
  struct Off {
    std::vector<NodeId> asleep;
    std::vector<NodeId> booting;
    std::vector<JobId> held_back;  // jobs that wait for them
  };

  void forget_nodes_that_are_on(Off& off);
  Off& off_of(VcId vc);
  void wake_for_waiting(const VcState& vc, Off& off);
  /// Boots the nodes that jobs need (may contain duplicates), and spare ones.
  void boot_needed(std::vector<NodeId>& needed, Off& off);
  void ask_capacity(std::span<const VcState> vcs);
  void let_sleep(std::span<const VcState> vcs, int count);
  void wake(int count);
  void boot(Off& off, std::size_t at);
  bool place(const VcState& vc, const cluster::Demand& demand, Off& off, std::size_t& woken);

  Desk& desk_;
  std::unique_ptr<Capacity> capacity_;
  bool strict_;
  bool binds_;
  std::vector<Off> off_;  // by virtual cluster
  Time asked_ = kNoTime;  // last call of the capacity
  int most_used_ = 0;     // most nodes in use since then
  std::vector<cluster::Grant> grants_;
};

}  // namespace almanac::policy
