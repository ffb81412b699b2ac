// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets a job that would have to wait run on the GPUs of a running job, where that harms neither.
///
/// The guest asks whole GPUs, as many as the host holds, and lies on just those; each then holds
/// half. Both must be predicted, with the cores and memory that the host holds and the guest would,
/// at `harmless_rate` of their speed alone or more. Of several hosts the one is taken where both
/// together lose least. A pair stays until one of the two ends or is stopped; the other then has
/// the GPUs to itself again. Three never share.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), which measured pairs of jobs on a GPU and let a
///          policy choose among them; 0.9 is the design texts'.
/// Differs  Gavel runs pairs in rounds. Here a guest only fills in for waiting, so that it moves
///          nobody. Whether two fit into a GPU's memory is not known and not asked.
/// Cost     Where a job finds no place: two rates, twice, for each running job of as many GPUs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/desk.h"
#include "policy/may_share.h"

namespace almanac::policy {

class Colocation {
 public:
  /// `may_share` empty = everybody may.
  Colocation(Desk& desk, double harmless_rate, MayShare may_share)
      : desk_(desk), harmless_rate_(harmless_rate), may_share_(std::move(may_share)) {}

  /// Takes half of the GPUs of a running job for `guest`, which waits in `vc` and is to be started
  /// with what is given; empty = changed nothing.
  std::span<const cluster::Grant> join(VcId vc, JobId guest);
  /// Whether a running job shares its GPUs.
  bool is_paired(JobId job) const { return partner_.contains(job); }

  /// Told of each job that starts to run, has ended, or is stopped or moved in the plan in the
  /// making.
  void started(JobId job);
  void ended(JobId job);

 private:
  using Key = std::pair<VcId, int>;  // virtual cluster, GPUs held
  /// A host, and what the guest would hold there.
  struct Match {
    JobId host{};
    double speeds = 0;  // of both, relative to alone
    std::vector<cluster::Grant> grants{};
  };

  Key key(JobId job, std::span<const cluster::Grant> held) const;
  std::optional<Match> best_match(VcId vc, JobId guest, const cluster::Demand& demand) const;
  std::optional<Match> match(JobId host, JobId guest, const cluster::Demand& demand) const;
  /// What is like what the host holds, with the cores and memory of `demand`; none = no room.
  std::vector<cluster::Grant> beside(std::span<const cluster::Grant> host,
                                     const cluster::Demand& demand) const;
  double relative_speed(JobId job, std::span<const cluster::Grant> held, JobId neighbour) const;

  Desk& desk_;
  double harmless_rate_;
  MayShare may_share_;
  std::map<Key, std::set<JobId>> alone_;  // jobs that hold whole GPUs, and run before this plan
  std::unordered_map<JobId, JobId> partner_;
  std::vector<cluster::Grant> taken_;
};

}  // namespace almanac::policy
