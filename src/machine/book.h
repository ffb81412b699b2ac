// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that have not ended, and what keeps the policy from seeing some of them.
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

/// Of jobs that have not ended.
struct Counts {
  std::int64_t waiting = 0, held = 0, running = 0;
};

/// What the process of a job has, and what its runs have told.
struct OfRuns {
  /// What its process may use until it has gone, or has said that it does not any more.
  std::vector<cluster::Grant> leaves{};
  std::string told_gpus{};             ///< Those that it was last told of; "" = none yet.
  int said_before = 0;                 ///< How often it had said which it uses, then.
  std::optional<Duration> moved_by{};  ///< When it must have said so, since boot.
  struct Move {
    Time told{};
    double step = 0;  ///< That it had made by then.
  };
  std::optional<Move> move{};  ///< The last one, until it has made another step.
  double moves_took_s = 0;     ///< All that it has done, from being told to the next step.
  int num_moves = 0;
  /// When its process must have ended, since boot; nothing = it was not told to. Beyond, it is
  /// killed.
  std::optional<Duration> obey_by{};
  std::vector<cluster::Grant> draws{};  ///< The GPUs that its process has from its start on.
  /// When its process is looked at again, of which nothing could be told; kNever = there is
  /// nothing to wait for but news.
  Time look_again = kNever;
  Duration look_pause{};                         ///< Before that.
  perf::SteadyUse gpu_use{};                     ///< Of its process.
  std::optional<perf::Stretch> bandwidth_gbs{};  ///< What it drew of the memory's, when looked
                                                 ///< at last.
  std::optional<perf::OwnProgress> progress{};   ///< What it says of its training.
  std::vector<elastic::Observation> seen{};      ///< How long its steps took, each way once.
};

/// That, once it was changed first: jobs that wait have none, and may be 300,000.
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
  /// Without what runs, which is most of it: that is read back from the disk to start it.
  store::Job job;
  /// Its place in the trace, as the policy knows it; kNoJob = the policy does not see it.
  JobId id = kNoJob;
  /// The process of its present run, or of the last one if that has not gone yet.
  std::unique_ptr<shepherd::Run> run{};
  Runs of_runs{};
  bool makes_room = false;  ///< Its process is one of before, and is to go: Process::former.
  /// Its process goes on on other GPUs, and has not said yet that it uses these.
  bool moves = false;
  std::int32_t batch = 0;     ///< As its policy has it; 0 = its own.
  bool too_much_gpu = false;  ///< Its process is to be killed for the GPU memory that it holds.
  bool is_pressed = false;    ///< It did not end as it was told, and was killed.
  std::int64_t Counts::*counted_as = nullptr;  ///< Null = it has ended.
  bool counted_unbegun = false;                ///< It has neither begun nor ended.
  WaitsFor waits{};                            ///< Before the policy sees it.
  Prerequisites::List list = 0;                ///< What it comes after; 0 = it has ended, too.

  Process process() const {
    if (!run) return Process::none;
    return makes_room ? Process::former : Process::own;
  }
  /// It runs as the policy sees it, and has no process yet.
  bool is_starting() const { return starts(job, process()); }
};

/// Before when it does not start, by its user's word or after a failure; kNoTime = it may now.
Time may_begin(const store::Job& job);

/// Its record, and that 30 s of work are reckoned for a change of GPUs of a job that leaves their
/// number open. Source: Qiao et al., OSDI'21 (Pollux), section 5.3; nothing measures it here.
trace::Job as_policy_knows(const store::Job& job, Names& names);

/// All that a run says of itself; nothing where its file cannot be read.
perf::OwnWord word_of(const shepherd::Run& run, Time now);

/// Drops argv, script, environment and resource limits.
void forget_what_runs(store::Job& job);
/// The same of many; neighbours that share what they ask go on to.
void forget_what_runs(std::vector<store::Job>& jobs);

/// The note on a job that was given other GPUs, cores or memory while it ran.
inline constexpr const char* kResized = "resized";
/// Of a job that holds GPUs which do not compute.
inline constexpr const char* kIdle = "idle GPUs";
/// The note on a job that held more of its GPU's memory than its part.
inline constexpr const char* kTooMuchGpu = "over its GPU memory";

class Book {
 public:
  using Entries = std::map<store::JobNumber, Entry>;
  /// Whether a job that is not here any more ended well, or all of an array's tasks that are not;
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

  /// Its state has changed, or whether it is held.
  void recount(Entry& entry);
  const Counts& counts() const { return counts_; }
  /// Returns what keeps a pending job from the policy: its user, a time, other jobs, its array.
  WaitsFor waits_for(const Entry& entry, Time now) const;
  /// Whether a job that waits for others is to be cancelled: they did not end as it needs.
  bool is_hopeless(const Entry& entry) const;
  /// Puts it into the room of what it waits for, or into none.
  void wait(Entry& entry, WaitsFor room);
  /// Has a job looked at that waits aside.
  void look_again(Entry& entry) { wait(entry, {WaitsFor::What::a_look}); }
  /// Has all that are in a room looked at.
  void open(WaitsFor room);
  /// Has those looked at whose time has come.
  void open_due(Time now);
  const Anteroom& anteroom() const { return anteroom_; }
  /// A task of an array joins the policy's jobs, or leaves them.
  void count_task(const store::Job& job, int sign);
  /// Jobs of lists of prerequisites that were looked at so far.
  std::uint64_t num_looks() const { return prerequisites_.num_looks(); }

 private:
  /// Of a job, or of all tasks of an array.
  Prerequisites::Outcome outcome_of(store::JobNumber number) const;
  /// Whether a job has ended or is to run again, has begun or is to begin again.
  struct Changed {
    bool end = false;
    bool start = false;
  };
  /// Those that come after it may be concerned.
  void tell_followers(const store::Job& job, Changed changed);
  void tell(store::JobNumber number);
  /// It is among those that have not ended, or is not any more.
  void count_namesake(const store::Job& job, bool is_open);
  /// The last job before it of its user and name that has not ended; nothing = there is none.
  std::optional<store::JobNumber> namesake_before(const store::Job& job) const;

  using Namesakes = std::map<std::pair<std::uint32_t, std::string>, std::set<store::JobNumber>>;
  /// Has another task of the array looked at, whose turn it may be.
  void open_array(const store::Job& task);

  Entries entries_;
  Counts counts_;
  Anteroom anteroom_;
  std::map<store::JobNumber, int> tasks_;    // of each array, among the policy's jobs
  std::map<store::JobNumber, int> open_;     // of each array, that have not ended
  std::map<store::JobNumber, int> unbegun_;  // of each array, that have not begun either
  Namesakes namesakes_;  // that have not ended; kept while some job is a singleton
  std::int64_t singletons_ = 0;
  EndedWell ended_well_;
  Prerequisites prerequisites_;
};

}  // namespace almanac::machine
