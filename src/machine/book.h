// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that have not ended, and what keeps some of them from the policy's queue.
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

/// What a job's process has, and what its runs have reported.
struct OfRuns {
  /// GPUs that its process may use until it has gone, or has reported that it uses others.
  std::vector<cluster::Grant> leaves{};
  std::string told_gpus{};             ///< The GPUs that it was last told; "" = none yet.
  int said_before = 0;                 ///< How often it had reported its GPUs by then.
  std::optional<Duration> moved_by{};  ///< When it must have reported them, since boot.
  struct Move {
    Time told{};
    double step = 0;  ///< The step that it had made by then.
  };
  std::optional<Move> move{};  ///< The last move, until the job has made another step.
  double moves_took_s = 0;     ///< All moves together, from the word to the next step.
  int num_moves = 0;
  /// When its process must have ended, since boot; nothing = it need not. It is killed then.
  std::optional<Duration> obey_by{};
  std::vector<cluster::Grant> draws{};  ///< GPUs that its process has from its start on.
  /// When a process is looked at again of which nothing is known; kNever = when it has news.
  Time look_again = kNever;
  Duration look_pause{};                         ///< The pause before that look.
  perf::SteadyUse gpu_use{};                     ///< GPU use of its process.
  std::optional<perf::Stretch> bandwidth_gbs{};  ///< Its memory traffic, at the last look.
  std::optional<perf::OwnProgress> progress{};   ///< What it reports of its training.
  std::vector<elastic::Observation> seen{};      ///< How long its steps took, once a way to run.
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
  /// The record without what it runs, which is most of it. The disk has that for its start.
  store::Job job;
  /// Its place in the trace, as the policy knows it; kNoJob = the policy does not see it.
  JobId id = kNoJob;
  /// The process of its present run, or of the last run if that has not gone yet.
  std::unique_ptr<shepherd::Run> run{};
  Runs of_runs{};
  bool makes_room = false;  ///< Its process is of a former run and must go: Process::former.
  /// Its process goes on on other GPUs, and has not reported yet that it uses them.
  bool moves = false;
  std::int32_t batch = 0;     ///< The batch that its policy wants; 0 = its own.
  bool too_much_gpu = false;  ///< Its process is killed for the GPU memory that it holds.
  bool is_overdue = false;    ///< Its process did not end in time, and was killed.
  std::int64_t Counts::*counted_as = nullptr;  ///< Null = it has ended.
  bool counted_unbegun = false;  ///< It has neither begun nor ended, and is counted so.
  WaitsFor waits{};              ///< What keeps it from the queue.
  Prerequisites::List list = 0;  ///< The jobs that it comes after; 0 = none, or it has ended.

  Process process() const {
    if (!run) return Process::none;
    return makes_room ? Process::former : Process::own;
  }
  /// Whether it runs as the policy sees it, and has no process yet.
  bool is_starting() const { return starts(job, process()); }
};

/// The time before which a job may not start, by its user's word or after a failure; kNoTime =
/// none.
Time may_begin(const store::Job& job);

/// The record of a job as the policy knows it. A change of GPUs costs 30 s of work if the job
/// leaves their number open. Source: Qiao et al., OSDI'21 (Pollux), section 5.3; not measured here.
trace::Job as_policy_knows(const store::Job& job, Names& names);

/// All that a run reports of itself; nothing if its file cannot be read.
perf::OwnWord word_of(const shepherd::Run& run, Time now);

/// Drops argv, script, environment and resource limits.
void forget_what_runs(store::Job& job);
/// The same for many jobs. Neighbours that share a submission still do afterwards.
void forget_what_runs(std::vector<store::Job>& jobs);

/// The note on a job that was given other GPUs, cores or memory while it ran.
inline constexpr const char* kResized = "resized";
/// The note on a job that holds GPUs which do not compute.
inline constexpr const char* kIdle = "idle GPUs";
/// The note on a job that held more of its GPU's memory than its part.
inline constexpr const char* kTooMuchGpu = "over its GPU memory";

class Book {
 public:
  using Entries = std::map<store::JobNumber, Entry>;
  /// Returns whether a job that has left the book ended well, or all tasks of an array that have;
  /// nothing = there was none.
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

  /// Counts a job again whose state has changed, or that is held or released.
  void recount(Entry& entry);
  const Counts& counts() const { return counts_; }
  /// Returns what keeps a pending job from the policy: its user, a time, other jobs, its array.
  WaitsFor waits_for(const Entry& entry, Time now) const;
  /// Whether a job waits in vain for others: they did not end as it needs.
  bool is_hopeless(const Entry& entry) const;
  /// Puts a job into the room of what it waits for, or into none.
  void wait(Entry& entry, WaitsFor room);
  /// Has a job looked at that waits aside.
  void look_again(Entry& entry) { wait(entry, {WaitsFor::What::a_look}); }
  /// Has all jobs in a room looked at.
  void open(WaitsFor room);
  /// Has the jobs looked at whose time has come.
  void open_due(Time now);
  const Anteroom& anteroom() const { return anteroom_; }
  /// Counts a task of an array that joins the policy's jobs (+1) or leaves them (-1).
  void count_task(const store::Job& job, int sign);
  /// Prerequisites that were looked at so far.
  std::uint64_t num_looks() const { return prerequisites_.num_looks(); }

 private:
  /// How a job ended, or all tasks of an array.
  Prerequisites::Outcome outcome_of(store::JobNumber number) const;
  /// Whether a job has ended or will run again, has begun or will begin again.
  struct Changed {
    bool end = false;
    bool start = false;
  };
  /// Tells the jobs that come after a job.
  void tell_followers(const store::Job& job, Changed changed);
  void tell(store::JobNumber number);
  /// Counts a job among those of its user and name that have not ended, or no longer.
  void count_namesake(const store::Job& job, bool is_open);
  /// Returns the last job before it of its user and name that has not ended; nothing = none.
  std::optional<store::JobNumber> namesake_before(const store::Job& job) const;

  using Namesakes = std::map<std::pair<std::uint32_t, std::string>, std::set<store::JobNumber>>;
  /// Has another task of the array looked at, which may be next.
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
