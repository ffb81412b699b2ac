// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a packing in which a job that would have to wait joins as many running jobs as it
/// takes, on their GPUs and on those that are free. A packing says what that is worth; the rest
/// follows.
///
/// What follows: a guest lies where its placement puts it while the GPUs of some hosts count as
/// free, the best hosts first. A host has all its GPUs beside the guest; on each of its nodes the
/// guest has the GPUs of one host or free ones. Both hold a half of each GPU that they share, two a
/// GPU and no more, with cores and memory of their own; those that say what memory they need of a
/// GPU share one only where it has as much. When a host ends or is stopped the guest has its part
/// too, and stays beside the others; when the guest does, the hosts have their GPUs to themselves.
///
/// Source   ours. Published packings let a job share all its GPUs with one other that holds as
///          many.
/// Cost     Where a job finds no place: merit() for each host with no more GPUs than it asks, and a
///          placement for each of these once enough would be free; again for each host that then
///          turns out to lie only in part where the guest would.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/contract/host.h"
#include "policy/kit/desk.h"

namespace almanac::policy {

/// A guest and all that it is beside, or might be.
struct Visit {
  std::span<const JobId> hosts{};
  JobId guest{};
  std::span<const cluster::Grant> grants{};  ///< What the guest holds.
};

class Hosting : public Packing {
 public:
  /// `may_share` empty = all jobs may.
  Hosting(Desk& desk, MayShare may_share) : desk_(desk), may_share_(std::move(may_share)) {}

  std::span<const cluster::Grant> join(VcId vc, JobId guest) final;
  bool is_paired(JobId job) const final { return hosts_.contains(job) || guest_of_.contains(job); }
  void started(JobId job) final;
  void ended(JobId job) final;

 protected:
  /// How good it is, the more the better; nothing = it may not be. Asked of each host by itself, on
  /// whose GPUs the guest is then taken to lie, and of all of them together.
  virtual std::optional<double> merit(const Visit& visit) const = 0;
  /// Whether enough is known to let any job join others.
  virtual bool is_informed() const { return desk_.view().speeds != nullptr; }
  /// Told when a guest has joined.
  virtual void joined(const Visit& visit) = 0;
  /// Told before a guest or one of its hosts leaves; it may be stopped already in this plan.
  virtual void parting(JobId guest) = 0;
  /// Told after some of several hosts have left, if the guest stays beside others.
  virtual void parted(const Visit& visit) = 0;

  Visit visit(JobId guest) const { return {hosts_.at(guest), guest, desk_.grants(guest)}; }
  std::span<const JobId> hosts(JobId guest) const { return hosts_.at(guest); }
  /// Stops a guest.
  void split_off(VcState& vc, JobId guest);
  /// Moves guests to GPUs that are free, those of the least number first, where no job that waits
  /// comes before the guest or could start.
  void move_apart(VcState& vc);

  Desk& desk_;

 private:
  using Hosts = std::vector<JobId>;

  Hosts candidates(VcId vc, JobId guest, const cluster::Demand& demand) const;
  /// Where the guest would lie once as many of the first of `hosts` give GPUs as it takes, how many
  /// these are being told; empty = nowhere.
  std::vector<cluster::Grant> place_among(VcId vc, const cluster::Demand& demand,
                                          const Hosts& hosts, std::size_t& used);
  /// Takes from `hosts` those that the guest is not beside; gives one of which it has only a part,
  /// or whose nodes it shares with others, else kNoJob.
  JobId keep_those_beside(Hosts& hosts, std::span<const cluster::Grant> grants) const;
  void take(JobId guest, const Hosts& hosts);
  /// Gives a job all of its GPUs that lie on nodes of `where`.
  void make_whole(JobId job, std::span<const cluster::Grant> where);
  /// Whether a job runs once the plan so far is carried out.
  bool will_run(JobId job) const;

  MayShare may_share_;
  std::map<VcId, std::set<JobId>> open_;  // that have whole GPUs to themselves
  std::map<JobId, Hosts> hosts_;          // of each guest
  std::unordered_map<JobId, JobId> guest_of_;
  std::vector<cluster::Grant> taken_;
};

/// How many GPUs a job holds.
int num_gpus(std::span<const cluster::Grant> held);

}  // namespace almanac::policy
