// SPDX-License-Identifier: Apache-2.0

/// \file
/// The slots of a composed policy other than its estimate and its pass. A small file in the
/// folder of that name fills each.
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
  Duration attained{};  ///< Run time so far.
  Duration worked{};    ///< Work done so far; differs from the run time at another speed.
  Duration believed{};  ///< Estimated total run time, restart work included.
  int gpus = 0;         ///< GPUs in its chosen shape.
  Duration expected{};  ///< Estimated total run time in its chosen shape.
  Time now{};           ///< Time of the question.
  /// Fractions of the GPUs, cores and memory of its virtual cluster that it could use: the largest,
  /// and their sum. 0 if the order does not read them.
  double largest_share = 0;
  double sum_of_shares = 0;
  /// Distribution of its run time; null if only one number is known or the order does not read it.
  const predict::Distribution* likely = nullptr;
  bool may_stop = false;  ///< Whether the pass may stop it once it runs.
  /// Its priority tier. Orders need not read it: whatever their ranks, higher tiers go first
  /// (kit/desk/ranked_queue.h).
  std::int32_t tier = 0;
};

/// What the rank of a job means, for people who ask why a job waits.
struct Standing {
  Term term = Term::none;  ///< `none` = no words for it.
  double value = 0;        ///< In the unit of the term; the smaller goes first.
};

/// Which job is next: the one with the smallest rank. Among equals, the smallest tie, then the job
/// that has queued for longer.
class Order {
 public:
  virtual ~Order() = default;
  /// Returns the rank of a job that waits, or that starts now.
  virtual double rank(const Candidate& job) const = 0;
  virtual double tie(const Candidate& job) const {
    static_cast<void>(job);
    return 0;
  }
  virtual Standing standing(const Candidate& job) const {
    static_cast<void>(job);
    return {};
  }
  /// Returns how much the rank of a running job falls per millisecond of work.
  virtual double drift() const { return 0; }
  /// Returns the run time after which the rank of a job jumps; kNoDuration if it never does.
  virtual Duration jumps_after(const Candidate& job) const {
    static_cast<void>(job);
    return kNoDuration;
  }
  /// Whether rank() reads Candidate::believed.
  virtual bool needs_estimate() const { return false; }
  /// Whether rank() also reads Candidate::likely.
  virtual bool needs_distribution() const { return false; }
  /// Whether rank() or tie() reads the shares of a candidate.
  virtual bool needs_shares() const { return false; }
  /// Returns the time until which the rank of a waiting job holds; then it is computed again.
  virtual Time stands_until(const Candidate& job) const {
    static_cast<void>(job);
    return Time::max();
  }
};

/// Where a job runs.
class Placement {
 public:
  virtual ~Placement() = default;
  /// Takes GPUs for `demand` in `ledger` and appends them to `grants`, or changes nothing and
  /// returns false. Whether it finds room depends only on ledger and demand; where, also on rng and
  /// on expected demands. What a demand covers fits wherever that demand fits.
  virtual bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
                     std::vector<cluster::Grant>& grants) const = 0;
  /// Whether place() draws from rng. If so, callers must call it exactly as often as a plan needs;
  /// otherwise the draws of later jobs would depend on how the plan was found.
  virtual bool draws() const { return false; }
  /// Whether place() accepts a part of a GPU.
  virtual bool places_parts() const { return false; }
  /// Receives the demand of each job that arrives; later jobs are expected to be similar.
  virtual void expect(const cluster::Demand& demand) { static_cast<void>(demand); }
  /// Units of a demand on each of a number of nodes.
  struct Footprint {
    int nodes = 1;
    int units = 1;
  };
  /// Returns the least that a job of `demand`, with whole GPUs, takes if all of it is in `pool`.
  virtual Footprint footprint(const cluster::Demand& demand, const cluster::Pool& pool) const {
    static_cast<void>(demand);
    static_cast<void>(pool);
    return {};
  }
  /// Whether a job of `demand` always is on one node of `pools`, and fits if one has room for all
  /// of it.
  virtual bool keeps_together(const cluster::Demand& demand,
                              std::span<const cluster::Pool> pools) const {
    static_cast<void>(pools);
    return demand.units() == 1;
  }
};

/// The number of GPUs on which a job should run.
struct Shaped {
  int nodes = 0;  ///< With equal numbers of GPUs; 0 if the placement chooses.
  int gpus = 0;
  double rate = 1;           ///< Its speed there, relative to the speed of its known run time.
  Time until = Time::max();  ///< When to choose again if it still waits.
};

/// How many GPUs an elastic job (Request::max_gpus) gets, and on how many nodes.
class Shape {
 public:
  virtual ~Shape() = default;
  /// Chooses for an elastic job with `work` to do, as time at the speed of its known run time.
  /// Called when the job joins the queue.
  virtual Shaped choose(JobId job, Duration work, const View& view,
                        const cluster::Ledger& ledger) = 0;
  /// Whether it is used only if speeds are known.
  virtual bool needs_speeds() const { return true; }
};

class Desk;
struct JobChoices;
struct VcState;

/// A GPU job that should run in a lease for which a size chooses cores and memory.
struct PackedJob {
  JobId job{};
  int gpus = 1;
  std::uint64_t gpu_types = ~std::uint64_t{0};
  int nvlink_gpus = 0;  ///< As in cluster::Demand.
  const JobChoices* choices = nullptr;
  std::size_t wish = 0;                    ///< Position of the best choice.
  std::span<const cluster::Grant> held{};  ///< GPUs that it has; empty if it waits.
  std::vector<cluster::Grant> grants{};    ///< What it gets; empty if it found no place.
};

/// Observes running jobs, and may change what they hold of their nodes apart from GPUs.
class Follower {
 public:
  virtual ~Follower() = default;
  /// Called if a job starts, or continues elsewhere, in the current plan.
  virtual void started(JobId job, const Desk& desk) {
    static_cast<void>(job);
    static_cast<void>(desk);
  }
  /// Called if a job has ended, or stops in the current plan.
  virtual void ended(JobId job, const Desk& desk) {
    static_cast<void>(job);
    static_cast<void>(desk);
  }
  /// Called last in each decision; may resize running jobs and request to be woken. What it frees
  /// is offered to waiting jobs in one more decision at the same instant.
  virtual void follow(Desk& desk) { static_cast<void>(desk); }
};

/// How many cores and how much memory a job gets with its GPUs.
class Size : public Follower {
 public:
  /// Returns the demand with which `job` should start, given what it requests: the same number of
  /// units on the same GPU types. Called each time the job joins the queue.
  virtual cluster::Demand demand(JobId job, const cluster::Demand& asked, const View& view) = 0;
  /// Returns what is enough to start if that does not fit; the job then gets as much of it as is
  /// free.
  virtual cluster::Demand least(const cluster::Demand& demand) const { return demand; }
  /// Takes cores from running GPU jobs on `node` until `cpu_milli` are free there, from those with
  /// most per GPU, but leaves at least `keep` per GPU. Returns false if it changed nothing.
  virtual bool give_up(NodeId node, std::int32_t cpu_milli, std::int32_t keep, Desk& desk) {
    static_cast<void>(node);
    static_cast<void>(cpu_milli);
    static_cast<void>(keep);
    static_cast<void>(desk);
    return false;
  }
  /// Returns what the job could use.
  virtual cluster::Demand wish(JobId job, const cluster::Demand& asked, const View& view) {
    return demand(job, asked, view);
  }
  /// Whether it chooses for all GPU jobs of a lease together; it then requires leases.
  virtual bool deals_out() const { return false; }
  /// Finds places for jobs that should run; see kit/deal_out.h. The jobs come with their requests
  /// and what they hold.
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

/// Which jobs that request whole GPUs share them. Each of these then holds a part of the GPUs.
class Packing {
 public:
  virtual ~Packing() = default;
  /// Called in each decision before the passes go through their queues, to separate jobs.
  virtual void review(std::span<VcState> vcs) { static_cast<void>(vcs); }
  /// Takes a part of the GPUs of a running job for `guest`, which waits in `vc` and finds no place.
  /// The caller must start it with the result. Empty if it changed nothing.
  virtual std::span<const cluster::Grant> join(VcId vc, JobId guest) = 0;
  /// Whether a running job shares its GPUs.
  virtual bool is_paired(JobId job) const = 0;
  /// Called for each job that starts, has ended, or is stopped or moved in the current plan.
  virtual void started(JobId job) = 0;
  virtual void ended(JobId job) = 0;
};

/// The nodes of a cluster as a capacity sees them.
struct NodeUse {
  Time now{};
  int used = 0;   ///< Most nodes with a job at any time since the last call.
  int on = 0;     ///< On or booting.
  int total = 0;  ///< In service, asleep or not.
};

/// Which nodes are on. Nodes that a waiting job needs wake up at once, whatever the capacity says;
/// nodes that run a job, or that a waiting job may need, stay on.
class Capacity {
 public:
  virtual ~Capacity() = default;
  /// Returns how many nodes should be on from now on. Called once per period.
  virtual int nodes_on(const NodeUse& nodes) = 0;
  /// Returns how many nodes to wake in addition to those that a waiting job needs.
  virtual int spare() const { return 0; }
  /// Called after nodes were woken for a waiting job.
  virtual void woken() {}
};

/// Interval between calls of a capacity.
/// Source   Hu et al., SC'21, section 4.3, Algorithm 2: PeriodicCheck.
inline constexpr Duration kCapacityPeriod = 10min;

}  // namespace almanac::policy
