// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a scheduler that deals GPUs among elastic jobs: those that leave open on how many
/// they run (Request::max_gpus) and tell of their training. It writes one function, which says how
/// many GPUs, or which, each of them gets.
///
/// All is dealt out anew when something has happened, and at most once in `every`; between, jobs
/// keep what they hold. A job that is not elastic gets what it asks and keeps it. In a deal each
/// job counts, in the order in which they came, for what it asks, an elastic one for one GPU or the
/// fewest that it says (Request::min_gpus); what does not fit waits, and the rest is for the
/// elastic jobs that are in the line. They have GPUs of one type, that of which the virtual cluster
/// has most, unless the scheduler deals out those of all types (deals_all_types()); each job has
/// GPUs of one type then. A job that a deal gives fewer GPUs than it says gets these if they are
/// left, in the order of the wishes, else none.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/reported_speeds.h"

namespace almanac::policy {

class ElasticAllocator : public Allocator {
 public:
  ElasticAllocator(std::unique_ptr<Placement> placement, Duration every, ReportedSpeeds::Pool pool)
      : Allocator(std::move(placement)), speeds(pool), every_(every) {}

 protected:
  struct Elastic {
    JobId job{};
    Training told{};
    int most = 1;       ///< GPUs that it can use: its own limit, and the least batch of a GPU.
    int least = 1;      ///< On fewer it does not run.
    int held_gpus = 0;  ///< 0 = it waits.
    int held_nodes = 0;
    std::uint64_t types = 0;      ///< That are dealt out and will do, as bits.
    std::uint64_t held_type = 0;  ///< One bit; 0 = it waits.
    double restart_s = 0;         ///< What another number of GPUs costs it.
  };
  struct Room {
    std::uint64_t type = 0;         ///< Of the GPUs, one bit.
    int gpus = 0;                   ///< For all of them.
    int per_node = 1;               ///< The most that a node has.
    std::vector<NodeGpus> nodes{};  ///< What of each node they may have.
    /// On how few nodes so many GPUs may lie.
    int nodes_of(int count) const { return (count + per_node - 1) / per_node; }
  };

  /// Says what each of `jobs` is to hold, in the order in which they are to be placed; there is one
  /// at least. The type of GPUs is the frame's matter.
  virtual void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
                    std::vector<Wish>& wishes) = 0;
  /// Whether GPUs of all types are dealt out: then deal_types() is asked, and deal() is not.
  virtual bool deals_all_types() const { return false; }
  /// The same with the room of each type; wishes are to say of which type (Wish::gpu_types).
  virtual void deal_types(VcId vc, std::span<const Elastic> jobs, std::span<const Room> rooms,
                          const View& view, const cluster::Ledger& ledger,
                          std::vector<Wish>& wishes);
  /// Told of each metric that a job reports, and of jobs that will not run again.
  virtual void noted(JobId job, const Training& told, double metric) {
    static_cast<void>(job);
    static_cast<void>(told);
    static_cast<void>(metric);
  }
  virtual void forgotten(JobId job) { static_cast<void>(job); }
  /// Sees to it that there is another deal at that time at the latest.
  void deal_by(Time at, const View& view);
  Duration every() const { return every_; }

  /// The speed that is believed of a job with the best batch, in samples of the initial batch a
  /// second; as many as GPUs until it has reported anything.
  double speed_on(const Elastic& job, int nodes, int gpus);
  /// So many GPUs on as few nodes as hold them, or where it has as many, with the best batch there;
  /// its own until it has reported anything.
  Wish wish_of(const Elastic& job, int gpus, const Room& room);

  ReportedSpeeds speeds;

 private:
  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) final;
  Time stands_until(VcId vc, const View& view) const final;
  void passed_by(VcId vc, const View& view, Plan& plan) final;
  void settled(VcId vc, const View& view, Plan& plan) final;
  /// Whether GPUs are dealt out now; else jobs are to go on until then.
  bool is_time_to_deal(bool at_once, const View& view);
  /// Heard at once: it may have ended before the next deal.
  void reported(JobId job, double metric, const View& view) final;
  void left(JobId job, const View& view) final;
  /// Believes what a job has reported.
  void hear(const Elastic& job, const View& view);
  bool waits_for_deal(JobId job, const View& view) const final;
  static bool are_newcomers_alone(std::span<const JobId> jobs, const View& view);
  /// Lets all jobs go on as they are between deals, and starts those that are not elastic.
  static void carry_on(std::span<const JobId> jobs, std::vector<Stock> stock, const View& view,
                       std::vector<Wish>& wishes);
  /// What a running job holds, taken out of the stock.
  static Wish keep(JobId job, std::vector<Stock>& stock, const View& view);
  /// A job as a deal looks at it; nothing = it is not elastic on GPUs of these types.
  static std::optional<Elastic> elastic(JobId job, std::uint64_t types, const View& view);
  /// Gives the wishes from `first` on the fewest GPUs of their jobs, or takes them back.
  static void heed_least(std::span<const Elastic> jobs, std::size_t first,
                         std::span<const Room> rooms, std::vector<Wish>& wishes);
  /// Takes the fewest GPUs of a job, and adds them to the room of the type of which most is left.
  static void take_least(const Elastic& job, std::vector<Stock>& left, std::vector<Room>& rooms,
                         const View& view);
  /// What is free of the nodes of a type.
  static Room room_of(VcId vc, std::uint64_t type, const cluster::Ledger& ledger);
  static void open_up(std::span<Room> rooms, std::span<const cluster::Grant> held);

  Duration every_;
  std::vector<bool> has_elastic_;  // jobs, by VcId
  Time dealt_ = kNoTime;
  bool is_behind_ = false;  // something has happened since
  Time wakes_ = kNoTime;    // for another deal
  bool is_to_wake_ = false;
};

}  // namespace almanac::policy
