// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of packings in which a job that would have to wait joins several running jobs, on their
/// GPUs and on free ones. A subclass rates a join; this class does the rest.
///
/// A guest goes where its placement puts it while the GPUs of some hosts count as free, the best
/// hosts first. A guest is next to a host on all of the host's GPUs. On each of its nodes it has
/// the GPUs of one host, or free ones. Host and guest each hold half of a GPU that they share, two
/// jobs per GPU at most, with cores and memory of their own. Jobs that state their GPU memory share
/// only GPUs with enough of it. When a host ends or stops, the guest gets that part too and stays
/// next to the others. When the guest does, the hosts have their GPUs to themselves.
///
/// Source   Our own. In published packings, a job shares all its GPUs with one other job that holds
///          as many.
/// Cost     If a job finds no place: merit() for each host with no more GPUs than it requests, and
///          a placement for each of these once enough GPUs would be free; again for each host that
///          turns out to be only partly where the guest would be.
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

/// A guest and all jobs that it is, or might be, next to.
struct Visit {
  std::span<const JobId> hosts{};
  JobId guest{};
  std::span<const cluster::Grant> grants{};  ///< What the guest holds.
};

class Hosting : public Packing {
 public:
  /// An empty `may_share` lets all jobs share.
  Hosting(Desk& desk, MayShare may_share) : desk_(desk), may_share_(std::move(may_share)) {}

  std::span<const cluster::Grant> join(VcId vc, JobId guest) final;
  bool is_paired(JobId job) const final { return hosts_.contains(job) || guest_of_.contains(job); }
  void started(JobId job) final;
  void ended(JobId job) final;

 protected:
  /// Returns how good a visit is, larger is better, or nothing to forbid it. Called for each host
  /// alone, with the guest on its GPUs, and for all hosts together.
  virtual std::optional<double> merit(const Visit& visit) const = 0;
  /// Whether enough is known to let jobs share.
  virtual bool is_informed() const { return desk_.view().speeds != nullptr; }
  /// Called after a guest has joined.
  virtual void joined(const Visit& visit) = 0;
  /// Called before a guest or one of its hosts leaves; the plan may have stopped it already.
  virtual void parting(JobId guest) = 0;
  /// Called after some of several hosts have left, if the guest stays with others.
  virtual void parted(const Visit& visit) = 0;

  Visit visit(JobId guest) const { return {hosts_.at(guest), guest, desk_.grants(guest)}; }
  std::span<const JobId> hosts(JobId guest) const { return hosts_.at(guest); }
  /// Stops a guest.
  void split_off(VcState& vc, JobId guest);
  /// Moves guests to free GPUs, in order of job number, unless a waiting job comes before the guest
  /// or could start there.
  void move_apart(VcState& vc);

  Desk& desk_;

 private:
  using Hosts = std::vector<JobId>;

  Hosts candidates(VcId vc, JobId guest, const cluster::Demand& demand) const;
  /// Returns where the guest would be once enough of the first `hosts` share their GPUs, and sets
  /// `used` to their number. Empty if it has no place.
  std::vector<cluster::Grant> place_among(VcId vc, const cluster::Demand& demand,
                                          const Hosts& hosts, std::size_t& used);
  /// Removes from `hosts` those that the guest is not next to. Returns a host that it is only
  /// partly next to, or that shares nodes with another host; kNoJob if there is none.
  JobId keep_those_beside(Hosts& hosts, std::span<const cluster::Grant> grants) const;
  void take(JobId guest, const Hosts& hosts);
  /// Gives a job all of its GPUs on the nodes of `where`.
  void make_whole(JobId job, std::span<const cluster::Grant> where);
  /// Whether a job runs after the plan so far.
  bool will_run(JobId job) const;

  MayShare may_share_;
  std::map<VcId, std::set<JobId>> open_;  // jobs that have whole GPUs to themselves
  std::map<JobId, Hosts> hosts_;          // of each guest
  std::unordered_map<JobId, JobId> guest_of_;
  std::vector<cluster::Grant> taken_;
};

/// Returns how many GPUs a job holds.
int num_gpus(std::span<const cluster::Grant> held);

}  // namespace almanac::policy
