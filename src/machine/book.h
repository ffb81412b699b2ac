// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that have not ended, and what keeps some of them out of the policy's queue.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "machine/anteroom.h"
#include "machine/life.h"
#include "machine/prerequisites.h"
#include "perf/own_word.h"
#include "perf/steady_use.h"
#include "rules/elastic/step_fit.h"
#include "shepherd/run.h"
#include "store/job.h"
#include "trace/trace.h"

namespace almanac::machine {

/// Numbers of jobs that have not ended.
struct Counts {
  std::int64_t waiting = 0, held = 0, running = 0;
};

/// The resources of a job's process, and what its runs have reported.
struct OfRuns {
  /// GPUs that the process may use until it has exited, or has reported that it uses others.
  std::vector<cluster::Grant> leaves{};
  std::string told_gpus{};  ///< GPUs last reported to the process; "" for none yet.
  /// Number of GPU reports from the process before that.
  int said_before = 0;
  std::optional<Duration> moved_by{};  ///< Deadline for its report, since boot.
  struct Move {
    Time told{};
    double step = 0;  ///< Training step at that time.
  };
  std::optional<Move> move{};  ///< The last move, until the job completes another step.
  double moves_took_s = 0;     ///< Total time of all moves, from the notice to the next step.
  int num_moves = 0;
  /// Time since boot at which the process is killed if it has not exited; nothing for no deadline.
  std::optional<Duration> obey_by{};
  std::vector<cluster::Grant> draws{};  ///< GPUs that the process has had since its start.
  /// When to check a process with unknown state again; kNever to wait for news.
  Time look_again = kNever;
  Duration look_pause{};                         ///< The pause before that look.
  perf::SteadyUse gpu_use{};                     ///< GPU use of its process.
  std::optional<perf::Stretch> bandwidth_gbs{};  ///< Memory traffic at the last measurement.
  std::optional<perf::OwnProgress> progress{};   ///< Training progress that it reports.
  /// Step times, one for each configuration.
  std::vector<elastic::Observation> seen{};
};

/// Allocated on first write: the 300,000 jobs that may be waiting have none.
class Runs {
 public:
  const OfRuns* operator->() const {
    static const OfRuns none;
    return made_ ? made_.get() : &none;
  }
  OfRuns& change() {
    if (!made_) made_ = std::make_unique<OfRuns>();
    return *made_;
  }

 private:
  std::unique_ptr<OfRuns> made_;
};

struct Entry {
  /// The record without script and environment, which are most of it. The disk keeps those for the
  /// start.
  store::Job job;
  /// Position in the trace, as the policy knows it; kNoJob if the policy does not see the job.
  JobId id = kNoJob;
  /// The process of the current run, or of the previous run if that has not exited yet.
  std::unique_ptr<shepherd::Run> run{};
  Runs of_runs{};
  /// Its process belongs to a previous run and must exit: Process::former.
  bool makes_room = false;
  /// Its process continues on other GPUs, and has not yet reported that it uses them.
  bool moves = false;
  std::int32_t batch = 0;     ///< Batch size that the policy wants; 0 for the job's own.
  bool too_much_gpu = false;  ///< Its process is killed for exceeding its GPU memory.
  bool is_overdue = false;    ///< Its process did not exit in time, and was killed.
  std::int64_t Counts::*counted_as = nullptr;  ///< Null if it has ended.
  bool counted_unbegun = false;  ///< Whether it is counted as neither started nor ended.
  WaitsFor waits{};              ///< What keeps it out of the queue.
  /// When nothing that its user decides kept it from starting any more; kNever if something does,
  /// kNoTime if this is not known yet.
  Time eligible = kNoTime;
  Prerequisites::List list = 0;  ///< Its prerequisites; 0 for none, or if it has ended.

  Process process() const {
    if (!run) return Process::none;
    return makes_room ? Process::former : Process::own;
  }
  /// Whether the policy has started it, and it has no process yet.
  bool is_starting() const { return starts(job, process()); }
};

/// Returns the time before which a job may not start, by its user's request or after a failure;
/// kNoTime for none.
Time may_begin(const store::Job& job);

/// Returns the record of a job in the form that the policy knows. A change of GPUs costs 30 s of
/// work if the number of GPUs is open. Source: Qiao et al., OSDI'21 (Pollux), section 5.3; not
/// measured here.
trace::Job as_policy_knows(const store::Job& job, Names& names);

/// Returns everything that a run reports about itself; nothing if its file cannot be read.
perf::OwnWord word_of(const shepherd::Run& run, Time now);

/// Drops argv, script, environment and resource limits from the record.
void forget_what_runs(store::Job& job);
/// Same for many jobs. Adjacent jobs that share a submission still share it.
void forget_what_runs(std::vector<store::Job>& jobs);

/// Note on a running job whose GPUs, cores or memory changed.
inline constexpr const char* kResized = "resized";
/// Note on a job whose GPUs do not compute.
inline constexpr const char* kIdle = "idle GPUs";
/// Note on a job that exceeded its part of the GPU memory.
inline constexpr const char* kTooMuchGpu = "over its GPU memory";

class Book {
 public:
  using Entries = std::map<store::JobNumber, Entry>;
  /// Returns whether a job that has left the book ended well; for an array, all tasks that have
  /// ended. Nothing if there is no such job.
  using EndedWell = std::function<std::optional<bool>(store::JobNumber)>;

  explicit Book(EndedWell ended_well);
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  Entry& add(store::Job job);
  void erase(store::JobNumber number);
  Entry* find(store::JobNumber number);
  const Entry* find(store::JobNumber number) const;
  Entries& all() { return entries_; }
  const Entries& all() const { return entries_; }

  /// Updates the counts for a job that changed state, or was held or released.
  void recount(Entry& entry);
  const Counts& counts() const { return counts_; }
  /// Returns what keeps a pending job from the policy: its user, a time, other jobs, or its array.
  WaitsFor waits_for(const Entry& entry, Time now) const;
  /// Whether a job waits in vain, because others did not end as it requires.
  bool is_hopeless(const Entry& entry) const;
  /// Moves a job to the group of what it waits for, or to none.
  void wait(Entry& entry, WaitsFor room);
  /// Marks a waiting job to be checked again.
  void look_again(Entry& entry) { wait(entry, {WaitsFor::What::a_look}); }
  /// Marks all jobs in a group to be checked.
  void open(WaitsFor room);
  /// Marks the jobs whose time has come to be checked.
  void open_due(Time now);
  const Anteroom& anteroom() const { return anteroom_; }
  /// Counts a task of an array that joins (+1) or leaves (-1) the policy's jobs.
  void count_task(const store::Job& job, int sign);
  /// Number of prerequisite checks so far.
  std::uint64_t num_looks() const { return prerequisites_.num_looks(); }

 private:
  /// Returns how a job ended; for an array, all its tasks.
  Prerequisites::Outcome outcome_of(store::JobNumber number) const;
  /// Whether a job has ended or will run again, and whether it has started or will start again.
  struct Changed {
    bool end = false;
    bool start = false;
  };
  /// Updates the jobs that depend on a job.
  void tell_followers(const store::Job& job, Changed changed);
  void tell(store::JobNumber number);
  /// Adds a job to, or removes it from, the unfinished jobs of its user and name.
  void count_namesake(const store::Job& job, bool is_open);
  /// Returns the last unfinished job before it of the same user and name; nothing if there is none.
  std::optional<store::JobNumber> namesake_before(const store::Job& job) const;

  using Namesakes = std::map<std::pair<std::uint32_t, std::string>, std::set<store::JobNumber>>;
  /// Marks another task of the array to be checked, which may be next.
  void open_array(const store::Job& task);

  Entries entries_;
  Counts counts_;
  Anteroom anteroom_;
  std::map<store::JobNumber, int> tasks_;    // tasks of each array among the policy's jobs
  std::map<store::JobNumber, int> open_;     // tasks of each array that have not ended
  std::map<store::JobNumber, int> unbegun_;  // tasks of each array that have not begun either
  Namesakes namesakes_;  // those that have not ended; kept while some job is a singleton
  std::int64_t singletons_ = 0;
  EndedWell ended_well_;
  Prerequisites prerequisites_;
};

}  // namespace almanac::machine
