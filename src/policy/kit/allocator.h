// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a scheduler that says anew, whenever something happens, which jobs are to run and
/// on how many GPUs: it writes one function, and the rest follows.
///
/// What follows: a job that is to keep its number of GPUs stays where it is; the others give theirs
/// back, and those that are to run are placed in the order in which they are named. A job that
/// finds no place keeps what it held if that is still free. A running job that is not named stops
/// only where another job takes its place: if its GPUs are still free, it goes on. Jobs are placed
/// off nodes that failed lately or will go soon if others will do (doubted_nodes.h).
///
/// A virtual cluster is dealt out when something happens in it, and when the policy asked to be
/// woken. A wake of one virtual cluster is an event for all of them; those of which the policy says
/// that their last deal still stands (Allocator::stands_until()) are left as they are.
///
/// Cost     O(jobs that wait or run in a virtual cluster) for each deal.
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

/// A job that is to run.
struct Wish {
  JobId job{};
  int gpus = 0;                                 ///< 0 = as many as it asks.
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< Bits of Cluster::gpu_types() that will do.
  int least = 0;    ///< So few GPUs will do where no more fit; 0 = as many as wished.
  Config config{};  ///< How it is to run.
  std::span<const NodeGpus> on{};  ///< `gpus` on these nodes; none = where the placement likes.
  /// Jobs that ask as many GPUs, to run on the same ones (Allocator::groups_jobs()); they are in no
  /// wish of their own.
  std::vector<JobId> beside{};
};

/// GPUs of one type that there are for jobs, in thousandths of a GPU.
struct Stock {
  std::uint64_t gpu_type = 0;  ///< One bit.
  std::int64_t milli = 0;

  double gpus() const { return static_cast<double>(milli) / cluster::kWholeGpu; }
};

class Allocator : public Policy {
 public:
  /// `estimator` null = nothing is believed of run times; `type_speeds` null = nor learned of types
  /// of GPUs.
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
  /// Says which of `jobs`, those of `vc` that wait or run, in the order in which they came, are to
  /// run: the first to be placed first. A job is named once. Jobs that nothing can move are not
  /// among them: those on nodes that are drained, asleep or booting run on, and so do those whose
  /// users let nobody stop them (Requeue::no).
  virtual void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                        std::vector<Wish>& wishes) = 0;
  /// Whether wishes may name jobs beside another. Then `gpus`, `least`, `on` and `config` of a
  /// wish are not looked at; of n jobs beside each other each holds an nth of each GPU, and one
  /// that finds no cores or memory beside those before it is left out.
  virtual bool groups_jobs() const { return false; }
  /// Whether it keeps the quotas of tenants itself, since it stops jobs of a tenant for others of
  /// the same: then allocate() has jobs too for which a quota leaves no room, and those that it
  /// does not name give their room back before those that it does are placed.
  virtual bool keeps_quotas() const { return false; }
  /// Until when allocate() would name the same jobs in the same order, and change nothing that the
  /// policy keeps, if no event but timers comes for `vc` and nobody asks to be woken for it. Asked
  /// after a deal that changed nothing; the deal is repeated at the first timer from then on, or
  /// from the next wake that the virtual cluster asked for. Time::min() = at every timer.
  virtual Time stands_until(VcId vc, const View& view) const {
    static_cast<void>(vc);
    static_cast<void>(view);
    return Time::min();
  }
  /// Told of a timer at which the last deal of `vc` stands, in its turn among the deals.
  virtual void passed_by(VcId vc, const View& view, Plan& plan) {
    static_cast<void>(vc);
    static_cast<void>(view);
    static_cast<void>(plan);
  }
  /// Told when the wishes are met as far as they can be: the time to ask to be woken.
  virtual void settled(VcId vc, const View& view, Plan& plan) {
    static_cast<void>(vc);
    static_cast<void>(view);
    static_cast<void>(plan);
  }
  /// Puts jobs that wait, and of which allocate() named none, in the order in which they would be
  /// next; as they come they are in the order in which they came.
  virtual void order_rest(VcId vc, std::span<JobId> waiting) const {
    static_cast<void>(vc);
    static_cast<void>(waiting);
  }
  /// Those with the earliest deadlines first, then those without one; else as they are.
  static void by_deadline(std::span<JobId> jobs, const View& view);
  /// Puts `waiting` in the order of `line`; behind it those that are not in it, as jobs that are
  /// held, or at a quota.
  void order_as(std::span<const JobId> line, std::span<JobId> waiting) const;
  /// Told of what a job reports: `metric` is NaN where it is none.
  virtual void reported(JobId job, double metric, const View& view) {
    static_cast<void>(job);
    static_cast<void>(metric);
    static_cast<void>(view);
  }
  /// Told of each new value of a signal, whether or not there are jobs.
  virtual void signalled(const Event& event, const View& view) {
    static_cast<void>(event);
    static_cast<void>(view);
  }
  /// Whether a job is not to run, though its GPUs be free and no other job wants them.
  virtual bool rests(JobId job) const {
    static_cast<void>(job);
    return false;
  }
  /// What such a job waits for; passed_over = for other jobs, as any.
  virtual ReasonKind rests_for() const { return ReasonKind::passed_over; }
  /// Sees to it that the jobs of the virtual cluster of `job` are allocated anew in this decision.
  void look_at(JobId job, const View& view) { vcs_[index(view.progress(job).vc)].touched = true; }
  /// Ends a job that waits or runs, for good, before jobs are allocated next: in this decision
  /// where reports and jobs that left are told, else in the next one, which is to be asked for.
  void end(JobId job) { over_.push_back(job); }
  /// Whether a job that would fit waits for the next time at which GPUs are dealt out.
  virtual bool waits_for_deal(JobId job, const View& view) const {
    static_cast<void>(job);
    static_cast<void>(view);
    return false;
  }
  /// Told of a job that runs no longer: it has ended, was withdrawn, or is stopped now.
  virtual void left(JobId job, const View& view) {
    static_cast<void>(job);
    static_cast<void>(view);
  }

  /// Whether a job runs once the plan so far is carried out.
  static bool will_run(JobId job, const View& view, const Plan& plan);
  /// GPUs of each type of `vc` on ready nodes, in use by `jobs` or free.
  static std::vector<Stock> stock(VcId vc, const cluster::Ledger& ledger);
  /// Whether take() would find a demand in the stock.
  static bool is_in(const std::vector<Stock>& stock, const cluster::Demand& demand);
  /// Takes so many thousandths of a GPU of the type among `types` of which most is left; false =
  /// changed nothing.
  static bool take(std::vector<Stock>& stock, std::int64_t milli, std::uint64_t types);
  /// The same of a demand.
  static bool take(std::vector<Stock>& stock, const cluster::Demand& demand);
  /// Takes what a job asks, of the type that it holds if it runs.
  static bool take(std::vector<Stock>& stock, JobId job, const View& view);
  /// The type of the GPUs of a running job, one bit; 0 = it holds none. O(classes of nodes).
  static std::uint64_t type_held(JobId job, const View& view);
  static std::uint64_t type_of(std::span<const cluster::Grant> grants, const View& view);
  /// The speed that is believed of a GPU job on what it asks, of a type (one bit): as profiled
  /// (View::speeds); else as learned of types, or where nothing is, 1 on all. On `gpus` GPUs; 0 =
  /// as many as it asks.
  double rate_on_type(JobId job, std::uint64_t type, VcId vc, const View& view,
                      const cluster::Ledger& ledger, int gpus = 0) const;
  /// That on each type of `stock`; 0 on those that the job does not accept.
  std::vector<double> rates_on(const std::vector<Stock>& stock, JobId job, VcId vc,
                               const View& view, const cluster::Ledger& ledger) const;
  /// Whether anything may be believed of types but that all are as fast.
  bool tells_types(const View& view) const { return view.speeds != nullptr || types_.learns(); }
  /// Whether a running job has run for a lease longer than it takes, at its speed so far, to do
  /// what it would lose if it were stopped now: else jobs whose restarts cost more than leases
  /// bring would never end.
  static bool has_gained(JobId job, Duration lease, const View& view);
  /// Work that a job is believed to have left, restarts included, as time at speed 1; not negative.
  Duration work_left(JobId job, const View& view) const { return beliefs_.work_left(job, view); }
  /// What a job asks.
  static const cluster::Demand& asked(JobId job, const View& view) {
    return view.demand(view.progress(job).demand);
  }

 private:
  struct Vc {
    std::vector<JobId> jobs;  // that wait or run, in the order in which they came
    bool touched = false;
    bool stands = false;     // a timer came at which its last deal stands
    Time due = Time::min();  // the first timer at which it must be dealt out, if nothing happens
  };

  void take_in(std::span<const Event> events, const View& view);
  /// Carries out what end() said.
  void end_jobs(const View& view, Plan& plan);
  void settle(VcId vc, const View& view, Plan& plan);
  /// When the deal of `vc` is to be repeated that began with so many changes and wakes in the plan.
  Time due(VcId vc, std::size_t changes, std::size_t wakes, const View& view,
           const Plan& plan) const;
  /// Places those that are to run as they are wished, and stops whom that displaces.
  void meet(VcId vc, const View& view, Plan& plan);
  /// The same where jobs may be beside each other.
  void meet_groups(VcId vc, const View& view, Plan& plan);
  /// Whether the jobs of a group run on the same GPUs, with equal parts of each and no one else.
  bool is_in_place(const Wish& wish, const View& view, const cluster::Ledger& ledger) const;
  void stop(JobId job, const View& view, Plan& plan);
  /// Those that it keeps itself; null = the host keeps them, or there are none.
  Quotas* lent_quotas(const Plan& plan) const;
  bool place(VcId vc, const Wish& wish, const View& view, Plan& plan);
  bool place_demanded(VcId vc, const Wish& wish, const cluster::Demand& demand, const View& view,
                      Plan& plan);
  /// Takes the GPUs that `wish` names; false = they are not free, or it names none.
  static bool take_named(const Wish& wish, const cluster::Demand& demand, cluster::Ledger& ledger,
                         std::vector<cluster::Grant>& grants);
  /// Whether a running job holds what is wished for it, or something safer.
  bool stays(const Wish& wish, const View& view, const cluster::Ledger& ledger) const;
  /// Whether `wish` names a doubted node, and what the job holds is on no more nodes, none of them
  /// doubted.
  bool is_safer(std::span<const cluster::Grant> held, const Wish& wish) const;
  /// Takes GPUs that `job` does not insist on from `demand` until quotas have room for it; false =
  /// they have none even for what it asks.
  static bool cut_to_quotas(JobId job, cluster::Demand& demand, const View& view, Plan& plan);
  /// Notes which jobs that wait find no room in a quota, as the plan leaves it.
  void leave_aside(const Plan& plan);
  bool is_aside(JobId job) const;
  static cluster::Demand wanted(const Wish& wish, const View& view);
  static bool can_move(JobId job, const View& view, const cluster::Ledger& ledger);
  /// Whether no node of `vc` is drained, asleep or booting; false where it has nodes without GPUs.
  static bool all_ready(VcId vc, const cluster::Ledger& ledger);
  static bool go_on(JobId job, const View& view, Plan& plan);
  /// Notes which of the jobs are on GPUs of which type once the plan is carried out.
  void note_types(std::span<const JobId> jobs, const View& view, const Plan& plan);

  std::unique_ptr<Placement> placement_;
  Beliefs beliefs_;
  TypeBeliefs types_;
  DoubtedNodes doubted_;
  std::vector<Vc> vcs_;
  std::vector<JobId> movable_;
  std::vector<Wish> wishes_;
  std::vector<JobId> homeless_;  // running jobs that gave back what they held
  JobMarks staying_;             // of the wishes: jobs that run on where they are
  JobMarks in_line_;
  mutable JobMarks unordered_;  // of order_as()
  std::vector<cluster::Grant> grants_;
  std::vector<JobId> over_;     // that end() named
  std::vector<JobId> stopped_;  // by the last decision; they join their lines with the next one
  std::vector<std::vector<JobId>> lines_;  // of each virtual cluster: jobs that wait, as last named
  std::vector<JobId> aside_;               // that quotas leave aside, in order of number
};

}  // namespace almanac::policy
