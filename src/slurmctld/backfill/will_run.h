// SPDX-License-Identifier: Apache-2.0

/// \file
/// Predicts when a job could start: backfill's will-run test.
#pragma once

#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "slurmctld/jobs/submission.h"
#include "slurmctld/nodes/choose.h"

namespace almanac::slurmctld {

/// A running job and when its time limit ends it.
struct RunningJob {
  std::uint32_t job = 0;
  Seconds end = 0;
  const Allocation* allocation = nullptr;
  Seconds limit = 0;       ///< Its time limit.
  std::uint32_t slot = 0;  ///< In Ends.

  bool operator<(const RunningJob& other) const {
    return end != other.end ? end < other.end : job < other.job;
  }
};

/// When running jobs end: each test of a job asks several times which end is next.
class Ends {
 public:
  static constexpr Seconds kNever = std::numeric_limits<Seconds>::max();

  /// Sets the slot of `job`, which its copies must have, too. Cost: O(jobs)
  void add(RunningJob& job);
  void remove(const RunningJob& job);
  /// Returns the end of the next job in the order of ends, then of jobs; kNever if there is none.
  /// `job` must be there. Cost: O(1)
  Seconds after(const RunningJob& job) const { return next_[job.slot]; }
  /// Changes with the jobs; never 0.
  std::uint64_t version() const { return version_; }

 private:
  /// Returns the position of the first job that is not before this one.
  std::size_t position(const RunningJob& job) const;
  /// Returns the end of the job at a position; kNever behind the last.
  Seconds end_at(std::size_t at) const { return at < jobs_.size() ? jobs_[at].end : kNever; }

  std::vector<RunningJob> jobs_;  // in order
  std::vector<Seconds> next_;     // by slot
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t version_ = 1;
};

struct RunningJobs {
  const Ends& all;
  /// All that may hold nodes of the zone of a question, sorted by end, then by job.
  const std::vector<RunningJob>& in_zone;
};

struct WillRunSettings {
  Seconds linear_window = 0;  ///< bf_window_linear; 0 = windows double.
  Seconds kill_wait = 30;     ///< Of a job that is over its limit.
  /// OverTimeLimit of each partition; kNoSeconds = jobs are never killed. Those missing have 0.
  std::vector<Seconds> over_limits{};

  /// Returns when a job that has run to its limit at `now` may end.
  ///
  /// Source   Slurm 22.05, select/cons_common/job_test.c (_guess_job_end).
  Seconds guess_end(const RunningJob& job, Seconds now) const;
};

/// Where a job could start.
struct Fit {
  std::optional<Allocation> allocation{};  ///< Nothing: nowhere.
  NodeBits nodes{};                        ///< Of the allocation.
  /// What the test writes to StaleWeights.
  LeftWeights weights{};
};

/// Returns the nodes of an allocation in a table of `nodes` nodes.
NodeBits nodes_of(const Allocation& allocation, std::size_t nodes);

/// Where a job could start on some nodes once running jobs there have ended. Answers are computed
/// when they are first needed, and hold until a job starts or ends on these nodes.
class FutureFits {
 public:
  FutureFits() = default;
  FutureFits(FutureFits&&) = default;
  FutureFits& operator=(FutureFits&&) = default;

  /// Returns the running job that holds a part of `candidates` and ends as the `at`-th of those,
  /// `at` at most one above that of earlier calls; null = there is none. `running` is sorted by
  /// end, then by job. The next call may end the life of what it returns.
  const RunningJob* holder(std::size_t at, const NodeBits& candidates,
                           const std::vector<RunningJob>& running);
  /// Forgets all answers, but keeps memory.
  void clear();

 private:
  friend class FutureRoom;
  std::vector<RunningJob> holders_{};  // the first ones, in the order of their ends
  bool has_all_ = false;
  // By holders that have ended; null = not computed. Most answers are "nowhere", which is one
  // object: a search that meets them again stays in the cache.
  std::vector<const Fit*> known_{};
  std::forward_list<Fit> found_{};  // the others that are pointed to
  /// What will_run() has found.
  struct Answer {
    std::uint64_t version = 0;  // of Ends; 0 = it was not asked yet
    bool fits = false;          // once all of some holders have ended
    RunningJob last{};          // of these
    const Fit* fit = nullptr;   // then; of the last test if it fits never
  } answer_{};
  const Fit* at_once_ = nullptr;  // known_[0], without the way through the list
};

/// When and where a job starts.
struct PlannedStart {
  Seconds start = 0;
  const Fit* fit = nullptr;  ///< In the FutureFits of the question.
};

/// Returns when and where the job of `question` could start if running jobs end at their limits:
/// `now`, or the last end of a window of ends. Nothing if it cannot start even once all have ended.
/// `fits` are those of the question. `room` is what running jobs leave now; it is the same when the
/// function returns.
///
/// Source   Slurm 22.05 to 24.05, select/cons_common/job_test.c (_will_run_test).
/// Differs  The limit of two seconds of computing does not exist.
/// Cost     O(log(longest end)) choices of nodes that `fits` does not know
std::optional<PlannedStart> will_run(Room& room, const Question& question, FutureFits& fits,
                                     const RunningJobs& running, Seconds now,
                                     const WillRunSettings& settings);

/// Returns where the job of `question` could start now.
const Fit& fit_now(Room& room, const Question& question, FutureFits& fits);

}  // namespace almanac::slurmctld
