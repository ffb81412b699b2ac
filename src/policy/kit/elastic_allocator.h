// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of schedulers that divide GPUs among elastic jobs: jobs with a range of GPUs
/// (Request::max_gpus) that report their training. A subclass writes one function, which decides
/// how many GPUs, or which, each of them gets.
///
/// GPUs are reallocated after an event, at most once in `every`; in between, jobs keep what they
/// hold. A job that is not elastic gets what it requests and keeps it. In a reallocation, jobs
/// count in order of arrival: a job that is not elastic with what it requests, an elastic one with
/// one GPU or its minimum (Request::min_gpus). Jobs that do not fit wait, and the rest of the GPUs
/// goes to the elastic jobs in the line. These have GPUs of one type, the one of which the virtual
/// cluster has most, unless the scheduler divides GPUs of all types (deals_all_types()); each job
/// then has GPUs of one type. A job that gets fewer GPUs than its minimum receives the minimum if
/// there are enough left, in the order of the wishes, and otherwise none. A job with a parallel
/// plan (trace/sizes.h) that is dealt a number of GPUs in between gets the next smaller size, or
/// the next larger one if enough GPUs are left then.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/reported_speeds.h"
#include "trace/sizes.h"

namespace almanac::policy {

class ElasticAllocator : public Allocator {
 public:
  /// Without an `estimator`, run times are not estimated.
  ElasticAllocator(std::unique_ptr<Placement> placement, Duration every, ReportedSpeeds::Pool pool,
                   std::unique_ptr<predict::Estimator> estimator = nullptr)
      : Allocator(std::move(placement), std::move(estimator)), speeds(pool), every_(every) {}

 protected:
  struct Elastic {
    JobId job{};
    Training told{};
    int most = 1;       ///< Most GPUs that it can use, by its limit and its smallest local batch.
    int least = 1;      ///< Fewest GPUs on which it runs.
    int held_gpus = 0;  ///< 0 if it waits.
    int held_nodes = 0;
    std::uint64_t types = 0;      ///< Accepted types among those that are divided, as bits.
    std::uint64_t held_type = 0;  ///< One bit; 0 if it waits.
    double restart_s = 0;         ///< Cost of a change of its number of GPUs.
  };
  struct Room {
    std::uint64_t type = 0;         ///< GPU type, one bit.
    int gpus = 0;                   ///< GPUs for all elastic jobs together.
    int per_node = 1;               ///< Most GPUs of a node.
    std::vector<NodeGpus> nodes{};  ///< GPUs of each node that they may have.
    /// Returns the fewest nodes for `count` GPUs.
    int nodes_of(int count) const { return (count + per_node - 1) / per_node; }
  };

  /// Decides what each of `jobs`, at least one, should hold, in the order in which to place them.
  /// The base class chooses the GPU type.
  virtual void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
                    std::vector<Wish>& wishes) = 0;
  /// Whether GPUs of all types are divided; deal_types() is then called instead of deal().
  virtual bool deals_all_types() const { return false; }
  /// Does the same with the room of each type; wishes must name a type (Wish::gpu_types).
  virtual void deal_types(VcId vc, std::span<const Elastic> jobs, std::span<const Room> rooms,
                          const View& view, const cluster::Ledger& ledger,
                          std::vector<Wish>& wishes);
  /// Called for each metric that a job reports, and for jobs that will not run again.
  virtual void noted(JobId job, const Training& told, double metric) {
    static_cast<void>(job);
    static_cast<void>(told);
    static_cast<void>(metric);
  }
  virtual void forgotten(JobId job) { static_cast<void>(job); }
  /// Requests another reallocation by that time.
  void deal_by(Time at, const View& view);
  Duration every() const { return every_; }

  /// Returns the estimated speed of a job with the best batch, in samples of the initial batch per
  /// second; the number of GPUs until its first report.
  double speed_on(const Elastic& job, int nodes, int gpus);
  /// Returns a wish for `gpus` GPUs on the fewest nodes, or where the job has that many, with the
  /// best batch there, or the job's own batch until its first report.
  Wish wish_of(const Elastic& job, int gpus, const Room& room);

  ReportedSpeeds speeds;

 private:
  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) final;
  Time stands_until(VcId vc, const View& view) const final;
  void passed_by(VcId vc, const View& view, Plan& plan) final;
  void settled(VcId vc, const View& view, Plan& plan) final;
  /// Whether GPUs are reallocated now; if not, jobs continue until then.
  bool is_time_to_deal(bool at_once, const View& view);
  /// Reads a report at once, because the job may end before the next reallocation.
  void reported(JobId job, double metric, const View& view) final;
  void left(JobId job, const View& view) final;
  /// Updates the estimate of a job from its reports.
  void hear(const Elastic& job, const View& view);
  bool waits_for_deal(JobId job, const View& view) const final;
  static bool are_newcomers_alone(std::span<const JobId> jobs, const View& view);
  /// Continues all jobs as they are between reallocations, and starts those that are not elastic.
  static void carry_on(std::span<const JobId> jobs, std::vector<Stock> stock, const View& view,
                       std::vector<Wish>& wishes);
  /// Returns what a running job holds, and takes it out of the stock.
  static Wish keep(JobId job, std::vector<Stock>& stock, const View& view);
  /// Returns a job as a reallocation sees it; nothing if it is not elastic on GPUs of these types.
  static std::optional<Elastic> elastic(JobId job, std::uint64_t types, const View& view);
  /// Raises the wishes from `first` on to the minimum of their jobs, or removes them.
  static void heed_least(std::span<const Elastic> jobs, std::size_t first,
                         std::span<const Room> rooms, std::vector<Wish>& wishes);
  /// Cuts wishes to whole copies of the model (trace/sizes.h), perhaps to none. Returns the jobs
  /// that it leaves fewer GPUs than were dealt, but at least one copy.
  static std::vector<JobId> cut_to_copies(std::span<Wish> wishes, const View& view);
  /// Gives each job whose wish was `cut` one copy more, in order, while GPUs are left.
  void add_copies(std::span<const JobId> cut, std::span<const Elastic> jobs,
                  std::span<const Room> rooms, std::span<Wish> wishes, const View& view);
  /// Takes the fewest GPUs of a job, and adds them to the room of the type with most left.
  static void take_least(const Elastic& job, std::vector<Stock>& left, std::vector<Room>& rooms,
                         const View& view);
  /// Returns what is free on the nodes of a type.
  static Room room_of(VcId vc, std::uint64_t type, const cluster::Ledger& ledger);
  static void open_up(std::span<Room> rooms, std::span<const cluster::Grant> held);

  Duration every_;
  std::vector<bool> has_elastic_;  // jobs, by VcId
  Time dealt_ = kNoTime;
  bool is_behind_ = false;  // whether there was an event since
  Time wakes_ = kNoTime;    // for another reallocation
  bool is_to_wake_ = false;
};

}  // namespace almanac::policy
