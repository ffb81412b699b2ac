// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lever `order` of a Kubernetes cluster, simulated: the ranks that it would write, one after the
/// other, as room steer_kube does on a live cluster. Order, ranks, reservations and the budget of
/// writes are those of room kueue, which both use.
///
/// Differs  Writes take no time: all that are due at an instant follow each other, and Kueue's
///          cycles run after each. The live lever writes five a second. Ranks of jobs that no
///          longer wait are not taken back, because they have no effect where ranks are allowed.
/// Cost     O(log n) for a job that comes or goes, for n that wait in its queue; then O(log n) for
///          new ranks, and in a queue that is backfilled the cost of kueue::front_of()
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "kueue/order.h"
#include "kueue/ranks.h"
#include "kueue/world.h"
#include "kueue/write_budget.h"

namespace almanac::policy::whole {

class SimulatedLever {
 public:
  /// A job that is submitted.
  struct Asked {
    kueue::Submission submission{};
    Time created{};
    double gpus = 0;
    Duration run{};                ///< Expected.
    Duration bound{};              ///< The run time that reservations assume.
    Duration limit = kNoDuration;  ///< kNoDuration = none.
  };
  /// A rank to write.
  struct Write {
    JobId job{};
    std::int64_t was = 0;
    std::int64_t becomes = 0;
  };
  using Flavors = std::vector<std::pair<std::string, std::string>>;  ///< Resource and flavor.

  /// `may_rank` = the queues that get ranks, by index into `setup`, which must outlive it. Those of
  /// them that are StrictFIFO are backfilled.
  SimulatedLever(const kueue::Setup& setup, std::vector<bool> may_rank);

  /// The job waits. Do nothing for a job of a queue without ranks, as all below.
  void submit(JobId job, Asked asked);
  /// The job holds quota of `flavors` from `at` on.
  void start(JobId job, const Flavors& flavors, Time at);
  /// The job has ended, or waits again: nothing preempts where ranks are allowed, but nodes fail.
  void forget(JobId job);

  /// `ended` jobs have ended since the last call.
  void count_ends(std::int64_t ended) { budget_.look(charged_, ended); }
  /// Makes the most urgent change of a rank; nothing if all ranks are right, or the budget is
  /// spent.
  std::optional<Write> next(Time now);

 private:
  struct Entry {
    std::size_t line{};
    kueue::Workload workload{};
    kueue::OrderKey key;
    Time created{};  ///< In whole seconds, as Kubernetes has it.
    double gpu_time_s = 0;
    Duration bound{};
    Duration limit = kNoDuration;
    bool is_in_line = false;
    std::int64_t rank = 0;
    kueue::Wants usage{};  ///< Empty while it waits.
    Time since{};          ///< Of its quota.
  };
  /// The jobs of a queue.
  struct Line {
    kueue::QueueAt queue{};
    bool is_strict = false;
    std::map<kueue::OrderKey, JobId> order{};  ///< Those that wait, in the order to reach.
    /// Those that wait without a rank, in Kueue's order.
    std::set<std::tuple<std::int64_t, Time, JobId>> plain{};
    std::set<JobId> ranked{};
    std::set<std::pair<Time, JobId>> young{};  ///< Below the age cap.
    std::set<JobId> holding{};
    std::vector<Write> due{};
    bool is_stale = false;  ///< `due` is of an earlier state.
  };

  void join(JobId job, Entry& entry);
  void leave(JobId job, Entry& entry);
  void set_rank(JobId job, std::int64_t rank);
  void move_old(Line& line, Time now);
  void plan(Line& line, Time now);
  /// Those that go first, in the order to reach, and where their bands end.
  std::vector<JobId> front(const Line& line, Time now, std::vector<std::size_t>& bands);
  static std::tuple<std::int64_t, Time, JobId> plain_place(JobId job, const Entry& entry) {
    return {entry.key.above, entry.created, job};
  }

  kueue::World world_;
  std::vector<Line> lines_{};
  std::vector<std::optional<std::size_t>> line_of_queue_{};
  std::unordered_map<JobId, Entry> entries_{};
  kueue::WriteBudget budget_{};
  std::vector<std::string> charged_{};  ///< Queues whose writes the budget limits.
};

}  // namespace almanac::policy::whole
