// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of schedulers that decide on every event which jobs should run, and on how many GPUs. A
/// subclass writes one function; this class does the rest.
///
/// A job that keeps its number of GPUs stays where it is. The others give theirs back, and those
/// that should run are placed in the order in which they are named. A job that finds no place keeps
/// what it held if that is still free. A running job that is not named stops only if another job
/// takes its place; if its GPUs are still free, it continues. Jobs avoid nodes that failed recently
/// or will go down soon if other nodes are possible (doubted_nodes.h).
///
/// A virtual cluster is decided again after an event in it, and when the policy requested a
/// wake-up. A wake-up of one virtual cluster is an event for all; those whose last decision still
/// holds (Allocator::stands_until()) are skipped.
///
/// Cost     O(jobs that wait or run in a virtual cluster) per decision
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/allocator/job_marks.h"
#include "policy/kit/allocator/type_beliefs.h"
#include "policy/kit/beliefs.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/kit/rate_on.h"
#include "policy/slots.h"

namespace almanac::policy {

/// GPUs of a node.
struct NodeGpus {
  NodeId node{};
  int gpus = 0;
};

/// A job that should run.
struct Wish {
  JobId job{};
  int gpus = 0;                                 ///< 0 for as many as it requests.
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< Accepted bits of Cluster::gpu_types().
  int least = 0;                   ///< Fewest GPUs that suffice if no more fit; 0 for all of them.
  Config config{};                 ///< Its settings.
  std::span<const NodeGpus> on{};  ///< `gpus` on these nodes; empty if the placement chooses.
  /// Jobs with the same number of GPUs that run on the same ones (Allocator::groups_jobs()). They
  /// have no wish of their own.
  std::vector<JobId> beside{};
};

/// GPUs of one type that jobs can use, in thousandths of a GPU.
struct Stock {
  std::uint64_t gpu_type = 0;  ///< One bit.
  std::int64_t milli = 0;

  double gpus() const { return static_cast<double>(milli) / cluster::kWholeGpu; }
};

class Allocator : public Policy {
 public:
  /// Without an `estimator`, run times are not estimated; without `type_speeds`, speeds of GPU
  /// types are not learned.
  explicit Allocator(std::unique_ptr<Placement> placement,
                     std::unique_ptr<predict::Estimator> estimator = nullptr,
                     std::shared_ptr<predict::TypeSpeeds> type_speeds = nullptr)
      : placement_(std::move(placement)),
        beliefs_(std::move(estimator)),
        types_(std::move(type_speeds)) {
    if (beliefs_.can_be_asked()) beliefs_.ask();
  }

  void decide(std::span<const Event> events, const View& view, Plan& plan) final;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const final;
  void line_up(std::vector<JobId>& line) const final;

 protected:
  /// Names those of `jobs` that should run, first to be placed first. `jobs` are the waiting and
  /// running jobs of `vc` in order of arrival. Name a job only once. Jobs that cannot move are not
  /// among them: those on nodes that are drained, asleep or booting continue,
  /// and so do those whose users forbid stopping them (Requeue::no).
  virtual void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                        std::vector<Wish>& wishes) = 0;
  /// Whether wishes may name jobs next to another. If so, `gpus`, `least`, `on` and `config` of a
  /// wish are ignored. Of n jobs that share GPUs, each holds 1/n of each GPU. A job without enough
  /// cores or memory next to the jobs before it is left out.
  virtual bool groups_jobs() const { return false; }
  /// Whether it enforces the quotas of tenants itself, because it stops jobs of a tenant for others
  /// of the same tenant. If so, allocate() also gets jobs for which a quota has no room, and jobs
  /// that it does not name release their quota before the named ones are placed.
  virtual bool keeps_quotas() const { return false; }
  /// Returns the time until which allocate() would name the same jobs in the same order and change
  /// none of its state, if `vc` gets only timer events and no wake-up is requested for it. Called
  /// after a decision that changed nothing. The decision is repeated at the first timer from then
  /// on, or at the next wake-up that the virtual cluster requested. Time::min() means at every
  /// timer.
  virtual Time stands_until(VcId vc, const View& view) const {
    static_cast<void>(vc);
    static_cast<void>(view);
    return Time::min();
  }
  /// Called, in turn, at a timer at which the last decision of `vc` still holds.
  virtual void passed_by(VcId vc, const View& view, Plan& plan) {
    static_cast<void>(vc);
    static_cast<void>(view);
    static_cast<void>(plan);
  }
  /// Called once the wishes are met as far as possible; the place to request wake-ups.
  virtual void settled(VcId vc, const View& view, Plan& plan) {
    static_cast<void>(vc);
    static_cast<void>(view);
    static_cast<void>(plan);
  }
  /// Sorts waiting jobs that allocate() did not name into the order in which they would be next.
  /// They come in order of arrival.
  virtual void order_rest(VcId vc, std::span<JobId> waiting) const {
    static_cast<void>(vc);
    static_cast<void>(waiting);
  }
  /// Sorts jobs by deadline, those without one last, keeping the order of equals.
  static void by_deadline(std::span<JobId> jobs, const View& view);
  /// Sorts `waiting` as in `line`. Jobs that are not in it, such as held jobs or jobs at a quota,
  /// come last.
  void order_as(std::span<const JobId> line, std::span<JobId> waiting) const;
  /// Called for each report of a job; `metric` is NaN for other reports.
  virtual void reported(JobId job, double metric, const View& view) {
    static_cast<void>(job);
    static_cast<void>(metric);
    static_cast<void>(view);
  }
  /// Called for each new value of a signal, even without jobs.
  virtual void signalled(const Event& event, const View& view) {
    static_cast<void>(event);
    static_cast<void>(view);
  }
  /// Whether a job should not run even if its GPUs are free and no other job wants them.
  virtual bool rests(JobId job) const {
    static_cast<void>(job);
    return false;
  }
  /// Returns what such a job waits for; passed_over means other jobs.
  virtual ReasonKind rests_for() const { return ReasonKind::passed_over; }
  /// Makes this decision allocate the jobs of the virtual cluster of `job` again.
  void look_at(JobId job, const View& view) { vcs_[index(view.progress(job).vc)].touched = true; }
  /// Ends a waiting or running job for good before the next allocation: in this decision if called
  /// from reported() or left(), else in the next one, which the caller must request.
  void end(JobId job) { over_.push_back(job); }
  /// Whether a job that would fit waits for the next reallocation.
  virtual bool waits_for_deal(JobId job, const View& view) const {
    static_cast<void>(job);
    static_cast<void>(view);
    return false;
  }
  /// Called for a job that no longer runs: it has ended, was withdrawn, or stops now.
  virtual void left(JobId job, const View& view) {
    static_cast<void>(job);
    static_cast<void>(view);
  }

  /// Whether a job runs after the plan so far.
  static bool will_run(JobId job, const View& view, const Plan& plan);
  /// Returns the GPUs of each type of `vc` on ready nodes, in use by `jobs` or free.
  static std::vector<Stock> stock(VcId vc, const cluster::Ledger& ledger);
  /// Whether take() would find a demand in the stock.
  static bool is_in(const std::vector<Stock>& stock, const cluster::Demand& demand);
  /// Takes `milli` thousandths of a GPU of the type among `types` with most left. Returns false if
  /// it changed nothing.
  static bool take(std::vector<Stock>& stock, std::int64_t milli, std::uint64_t types);
  /// Does the same for a demand.
  static bool take(std::vector<Stock>& stock, const cluster::Demand& demand);
  /// Takes what a job requests, of the type that it holds if it runs.
  static bool take(std::vector<Stock>& stock, JobId job, const View& view);
  /// Returns the type of the GPUs of a running job, one bit; 0 without GPUs. O(classes of nodes).
  static std::uint64_t type_held(JobId job, const View& view);
  static std::uint64_t type_of(std::span<const cluster::Grant> grants, const View& view);
  /// Returns the estimated speed of a GPU job with its requested cores and memory on `gpus` GPUs of
  /// a type (one bit); 0 GPUs means as many as it requests. The speed comes from the profile
  /// (View::speeds), else from what was learned about types; 1 on all types if neither is known.
  double rate_on_type(JobId job, std::uint64_t type, VcId vc, const View& view,
                      const cluster::Ledger& ledger, int gpus = 0) const;
  /// Returns that speed for each type of `stock`; 0 for types that the job does not accept.
  std::vector<double> rates_on(const std::vector<Stock>& stock, JobId job, VcId vc,
                               const View& view, const cluster::Ledger& ledger) const;
  /// Whether types may differ in speed.
  bool tells_types(const View& view) const { return view.speeds != nullptr || types_.learns(); }
  /// Returns the estimated remaining work, restarts included, as time at speed 1; not negative.
  Duration work_left(JobId job, const View& view) const { return beliefs_.work_left(job, view); }
  /// Returns what a job requests.
  static const cluster::Demand& asked(JobId job, const View& view) {
    return view.demand(view.progress(job).demand);
  }

 private:
  struct Vc {
    std::vector<JobId> jobs;  // waiting and running jobs, in order of arrival
    bool touched = false;
    bool stands = false;     // a timer came at which its last decision holds
    Time due = Time::min();  // the first timer at which it must be decided again without an event
  };

  void take_in(std::span<const Event> events, const View& view);
  /// Ends the jobs that end() named.
  void end_jobs(const View& view, Plan& plan);
  void settle(VcId vc, const View& view, Plan& plan);
  /// Returns when to repeat the decision of `vc` that began with this many changes and wakes in the
  /// plan.
  Time due(VcId vc, std::size_t changes, std::size_t wakes, const View& view,
           const Plan& plan) const;
  /// Places the named jobs as wished, and stops the jobs that they displace.
  void meet(VcId vc, const View& view, Plan& plan);
  /// Does the same if jobs may share GPUs.
  void meet_groups(VcId vc, const View& view, Plan& plan);
  /// Whether exactly the jobs of a group run on the same GPUs, with equal parts of each.
  bool is_in_place(const Wish& wish, const View& view, const cluster::Ledger& ledger) const;
  void stop(JobId job, const View& view, Plan& plan);
  /// Returns the quotas that it enforces itself; null if the host does, or if there are none.
  Quotas* lent_quotas(const Plan& plan) const;
  bool place(VcId vc, const Wish& wish, const View& view, Plan& plan);
  bool place_demanded(VcId vc, const Wish& wish, const cluster::Demand& demand, const View& view,
                      Plan& plan);
  /// Whether the GPUs that `wish` names of each NVLink domain are whole groups.
  static bool names_domains(const Wish& wish, const View& view, const cluster::Ledger& ledger);
  /// Takes the GPUs that `wish` names. Returns false if they are not free or it names none.
  static bool take_named(const Wish& wish, const cluster::Demand& demand, cluster::Ledger& ledger,
                         std::vector<cluster::Grant>& grants);
  /// Whether a running job holds what is wished for it, or something safer.
  bool stays(const Wish& wish, const View& view, const cluster::Ledger& ledger) const;
  /// Whether `wish` names a doubted node, while the job holds GPUs on at most as many nodes and
  /// none of them is doubted.
  bool is_safer(std::span<const cluster::Grant> held, const Wish& wish) const;
  /// Removes GPUs that `job` can do without from `demand` until quotas have room for it. Returns
  /// false if they have none even for its minimum.
  static bool cut_to_quotas(JobId job, cluster::Demand& demand, const View& view, Plan& plan);
  /// Records which waiting jobs find no room in a quota after the plan.
  void leave_aside(const Plan& plan);
  bool is_aside(JobId job) const;
  static cluster::Demand wanted(const Wish& wish, const View& view);
  static bool can_move(JobId job, const View& view, const cluster::Ledger& ledger);
  /// Whether no node of `vc` is drained, asleep or booting; false if it has nodes without GPUs.
  static bool all_ready(VcId vc, const cluster::Ledger& ledger);
  static bool go_on(JobId job, const View& view, Plan& plan);
  /// Records which of the jobs are on which GPU type after the plan.
  void note_types(std::span<const JobId> jobs, const View& view, const Plan& plan);

  std::unique_ptr<Placement> placement_;
  Beliefs beliefs_;
  TypeBeliefs types_;
  DoubtedNodes doubted_;
  std::vector<Vc> vcs_;
  std::vector<JobId> movable_;
  std::vector<Wish> wishes_;
  std::vector<JobId> homeless_;  // running jobs that gave back what they held
  JobMarks staying_;             // jobs of the wishes that continue where they are
  JobMarks in_line_;
  mutable JobMarks unordered_;  // of order_as()
  std::vector<cluster::Grant> grants_;
  std::vector<JobId> over_;     // jobs that end() named
  std::vector<JobId> stopped_;  // by the last decision; they join their lines in the next one
  std::vector<std::vector<JobId>> lines_;  // by virtual cluster: waiting jobs, as last named
  std::vector<JobId> aside_;               // jobs that quotas leave aside, by number
};

}  // namespace almanac::policy
