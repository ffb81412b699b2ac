// SPDX-License-Identifier: Apache-2.0

/// \file
/// The questions that a composed policy asks beside its estimate and its pass, each answered by a
/// small file of the folder of that name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "predict/distribution.h"

namespace almanac::policy {

/// A job as an order sees it.
struct Candidate {
  JobId job{};
  const trace::Request& request;
  Duration attained{};  ///< Time run so far.
  Duration worked{};    ///< Work done so far: less or more than that at another speed.
  Duration believed{};  ///< Believed run time in all, restart work included.
  int gpus = 0;         ///< That it is to have.
  Duration expected{};  ///< Believed run time in all with those, in the shape that it is to have.
  Time now{};           ///< When it is asked.
  /// Of the GPUs, cores and memory of its virtual cluster the parts that it could use: the largest,
  /// and their sum. 0 when the order did not ask.
  double largest_share = 0;
  double sum_of_shares = 0;
  /// How likely each run time is; null = one number is known only, or the order did not ask.
  const predict::Distribution* likely = nullptr;
  bool may_stop = false;  ///< Whether the pass may stop it once it runs.
  /// Its priority tier. Orders need not read it: whatever their ranks, higher tiers go first
  /// (kit/desk/ranked_queue.h).
  std::int32_t tier = 0;
};

/// Which job is next: the least rank. Equal ranks: the least tie, then the job that has queued for
/// longer.
class Order {
 public:
  virtual ~Order() = default;
  /// Rank of a job that waits, or that starts to run now.
  virtual double rank(const Candidate& job) const = 0;
  virtual double tie(const Candidate& job) const {
    static_cast<void>(job);
    return 0;
  }
  /// How much the rank of a running job falls in a millisecond of work.
  virtual double drift() const { return 0; }
  /// After how much more running the rank of a job jumps; kNoDuration = never.
  virtual Duration jumps_after(const Candidate& job) const {
    static_cast<void>(job);
    return kNoDuration;
  }
  /// Whether rank() reads Candidate::believed.
  virtual bool needs_estimate() const { return false; }
  /// Whether it reads Candidate::likely too.
  virtual bool needs_distribution() const { return false; }
  /// Whether it reads the shares of a candidate.
  virtual bool needs_shares() const { return false; }
  /// Until when the rank of a waiting job stands; then it is asked again.
  virtual Time stands_until(const Candidate& job) const {
    static_cast<void>(job);
    return Time::max();
  }
};

/// Where a job runs.
class Placement {
 public:
  virtual ~Placement() = default;
  /// Takes GPUs for `demand` in `ledger` and appends them to `grants`; or changes nothing and
  /// returns false. Whether it finds room depends only on ledger and demand, where, also on rng and
  /// on what it expects; and what a demand covers fits wherever that demand does.
  virtual bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
                     std::vector<cluster::Grant>& grants) const = 0;
  /// Whether place() draws from rng. If so it is asked no more and no less often than it takes to
  /// find a plan, or the draws of later jobs would depend on how cleverly that is done.
  virtual bool draws() const { return false; }
  /// Whether place() may be asked for a part of a GPU.
  virtual bool places_parts() const { return false; }
  /// Told what each job that comes asks: those to come are expected to be alike.
  virtual void expect(const cluster::Demand& demand) { static_cast<void>(demand); }
  /// Units of a demand on each of so many nodes.
  struct Footprint {
    int nodes = 1;
    int units = 1;
  };
  /// What a job of `demand`, whose GPUs are whole, takes at the least where all of it lies in
  /// `pool`.
  virtual Footprint footprint(const cluster::Demand& demand, const cluster::Pool& pool) const {
    static_cast<void>(demand);
    static_cast<void>(pool);
    return {};
  }
  /// Whether a job of `demand` always lies on one node of `pools`, and fits if there is one with
  /// room for all of it.
  virtual bool keeps_together(const cluster::Demand& demand,
                              std::span<const cluster::Pool> pools) const {
    static_cast<void>(pools);
    return demand.units() == 1;
  }
};

/// On how many GPUs a job is to run.
struct Shaped {
  int nodes = 0;  ///< With as many of them on each; 0 = as the placement likes.
  int gpus = 0;
  double rate = 1;           ///< Its speed there, beside that at which its run time is known.
  Time until = Time::max();  ///< When to ask again, should it still wait.
};

/// On how many GPUs, and spread how, a job runs that leaves that open (Request::max_gpus).
class Shape {
 public:
  virtual ~Shape() = default;
  /// For a job with `work` to do, as time at the speed at which its run time is known. Asked when
  /// it joins the queue, of jobs that leave it open.
  virtual Shaped choose(JobId job, Duration work, const View& view,
                        const cluster::Ledger& ledger) = 0;
  /// Whether it is asked only where speeds are known.
  virtual bool needs_speeds() const { return true; }
};

class Desk;
struct JobChoices;
struct VcState;

/// A GPU job that is to run in a lease that a size deals out.
struct PackedJob {
  JobId job{};
  int gpus = 1;
  std::uint64_t gpu_types = ~std::uint64_t{0};
  const JobChoices* choices = nullptr;
  std::size_t wish = 0;                    ///< The choice that would be best.
  std::span<const cluster::Grant> held{};  ///< GPUs that it has; none = it waits.
  std::vector<cluster::Grant> grants{};    ///< What it gets; none = it found no place.
};

/// Told of the jobs that run; may change what they hold of their nodes beside their GPUs.
class Follower {
 public:
  virtual ~Follower() = default;
  /// A job starts, or goes on elsewhere, in the plan in the making.
  virtual void started(JobId job, const Desk& desk) {
    static_cast<void>(job);
    static_cast<void>(desk);
  }
  /// A job has ended, or is stopped in the plan in the making.
  virtual void ended(JobId job, const Desk& desk) {
    static_cast<void>(job);
    static_cast<void>(desk);
  }
  /// Called last in each decision; may resize running jobs, and asks to be woken. What it lets go
  /// is offered to waiting jobs in one more decision of the same instant.
  virtual void follow(Desk& desk) { static_cast<void>(desk); }
};

/// How many cores and how much memory a job gets beside its GPUs.
class Size : public Follower {
 public:
  /// What `job` is to start with, given what it asks: as many units, of the same GPU types. Asked
  /// each time that the job joins the queue.
  virtual cluster::Demand demand(JobId job, const cluster::Demand& asked, const View& view) = 0;
  /// What is enough to start where that does not fit; it then gets as much of that as is free.
  virtual cluster::Demand least(const cluster::Demand& demand) const { return demand; }
  /// Takes cores of running GPU jobs on `node`, of those that hold most for each GPU and not below
  /// `keep`, until `cpu_milli` are free there; gives whether they are. False = changed nothing.
  virtual bool give_up(NodeId node, std::int32_t cpu_milli, std::int32_t keep, Desk& desk) {
    static_cast<void>(node);
    static_cast<void>(cpu_milli);
    static_cast<void>(keep);
    static_cast<void>(desk);
    return false;
  }
  /// What it could use.
  virtual cluster::Demand wish(JobId job, const cluster::Demand& asked, const View& view) {
    return demand(job, asked, view);
  }
  /// Whether it deals out all GPU jobs of a lease together; then it needs leases.
  virtual bool deals_out() const { return false; }
  /// Finds places for jobs that are to run, see kit/deal_out.h; they come with what they ask
  /// and hold.
  virtual void deal_out(std::span<PackedJob> jobs, VcId vc, const View& view,
                        cluster::Ledger& ledger) {
    static_cast<void>(jobs);
    static_cast<void>(vc);
    static_cast<void>(view);
    static_cast<void>(ledger);
  }
};

/// Slows jobs that slow others.
class Throttle : public Follower {};

/// Which jobs that ask whole GPUs run on the same ones. Where it says so, each holds a part of
/// them.
class Packing {
 public:
  virtual ~Packing() = default;
  /// Called in each decision, before the passes go through their queues: the time to part jobs.
  virtual void review(std::span<VcState> vcs) { static_cast<void>(vcs); }
  /// Takes a part of the GPUs of a running job for `guest`, which waits in `vc`, finds no place and
  /// is to be started with what is given; empty = changed nothing.
  virtual std::span<const cluster::Grant> join(VcId vc, JobId guest) = 0;
  /// Whether a running job has its GPUs with another.
  virtual bool is_paired(JobId job) const = 0;
  /// Told of each job that starts to run, has ended, or is stopped or moved in the plan in the
  /// making.
  virtual void started(JobId job) = 0;
  virtual void ended(JobId job) = 0;
};

/// The nodes of a cluster as a capacity sees them.
struct NodeUse {
  Time now{};
  int used = 0;   ///< That run a job: the most at once since it was asked last.
  int on = 0;     ///< On or booting.
  int total = 0;  ///< In service, asleep or not.
};

/// Which nodes are on. Nodes that a waiting job needs are woken at once, whatever it says; nodes
/// that run a job, or may be needed by one that waits, stay on.
class Capacity {
 public:
  virtual ~Capacity() = default;
  /// How many nodes shall be on from now on. Asked once a period.
  virtual int nodes_on(const NodeUse& nodes) = 0;
  /// How many nodes to wake together with those that a waiting job needs.
  virtual int spare() const { return 0; }
  /// Told that nodes were woken for a waiting job.
  virtual void woken() {}
};

/// How often a capacity is asked.
/// Source   Hu et al., SC'21, section 4.3, Algorithm 2: PeriodicCheck.
inline constexpr Duration kCapacityPeriod = 10min;

}  // namespace almanac::policy
