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
#include "elastic/step_fit.h"
#include "live/life.h"
#include "measure/own_word.h"
#include "measure/steady_use.h"
#include "shepherd/run.h"
#include "store/job.h"
#include "trace/trace.h"

namespace almanac::live {

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
  Duration look_pause{};                            ///< Before that.
  measure::SteadyUse gpu_use{};                     ///< Of its process.
  std::optional<measure::Stretch> bandwidth_gbs{};  ///< What it drew of the memory's, when looked
                                                    ///< at last.
  std::optional<measure::OwnProgress> progress{};   ///< What it says of its training.
  std::vector<elastic::Observation> seen{};         ///< How long its steps took, each way once.
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

  Process process() const {
    if (!run) return Process::none;
    return makes_room ? Process::former : Process::own;
  }
  /// It runs as the policy sees it, and has no process yet.
  bool is_starting() const { return starts(job, process()); }
};

/// What keeps a pending job from the policy.
/// `never`: what it was to follow did not come to that; it is to be cancelled.
enum class Aside { no, held, begins_later, depends, array_is_full, never };

/// Before when it does not start, by its user's word or after a failure; kNoTime = it may now.
Time may_begin(const store::Job& job);

/// Its record, and that 30 s of work are reckoned for a change of GPUs of a job that leaves their
/// number open. Source: Qiao et al., OSDI'21 (Pollux), section 5.3; nothing measures it here.
trace::Job as_policy_knows(const store::Job& job, Names& names);

/// All that a run says of itself; nothing where its file cannot be read.
measure::OwnWord word_of(const shepherd::Run& run, Time now);

/// Drops argv, script, environment and resource limits.
void forget_what_runs(store::Job& job);
/// The same of many; neighbours that share what they ask go on to.
void forget_what_runs(std::vector<store::Job>& jobs);

/// The note on a job that was given other GPUs, cores or memory while it ran.
inline constexpr const char* kResized = "resized";
/// Of a job that holds GPUs which do not compute.
inline constexpr const char* kIdle = "idle GPUs";
/// Of a job that failed: what its log says of why.
inline constexpr const char* kJudged = "its log says";
/// The note on a job that held more of its GPU's memory than its part.
inline constexpr const char* kTooMuchGpu = "over its GPU memory";

class Book {
 public:
  using Entries = std::map<store::JobNumber, Entry>;
  /// Whether a job that is not here any more ended well, or all of an array's tasks that are not;
  /// nothing = there was none.
  using EndedWell = std::function<std::optional<bool>(store::JobNumber)>;

  explicit Book(EndedWell ended_well) : ended_well_(std::move(ended_well)) {}

  Entry& add(store::Job job);
  void erase(store::JobNumber number);
  Entry* find(store::JobNumber number);
  const Entry* find(store::JobNumber number) const;
  Entries& all() { return entries_; }
  const Entries& all() const { return entries_; }

  /// Its state has changed, or whether it is held.
  void recount(Entry& entry);
  const Counts& counts() const { return counts_; }
  Aside aside(const Entry& entry, Time now) const;
  /// A task of an array joins the policy's jobs, or leaves them.
  void count_task(const store::Job& job, int sign);
  /// Whether some job waits for another's start.
  bool awaits_starts() const { return awaiting_starts_ > 0; }

 private:
  enum class Answer { yes, not_yet, never };
  enum class Outcome { open, well, badly };
  /// Of a job, or of all tasks of an array.
  Outcome outcome_of(store::JobNumber number) const;
  Answer may_follow(const store::Job& job) const;
  /// Whether it, or all tasks of an array, have begun, or have ended without.
  bool has_begun(store::JobNumber number) const;
  /// Whether no earlier job of its user and name is left.
  bool is_first_of_its_name(const store::Job& job) const;
  /// It is among those that have not ended, or is not any more.
  void count_open(const store::Job& job, int sign);

  using Namesakes = std::map<std::pair<std::uint32_t, std::string>, std::set<store::JobNumber>>;

  Entries entries_;
  Counts counts_;
  std::map<store::JobNumber, int> tasks_;  // of each array, among the policy's jobs
  Namesakes namesakes_;                    // that have not ended; only while there are singletons
  std::int64_t singletons_ = 0;
  std::int64_t awaiting_starts_ = 0;
  EndedWell ended_well_;
};

}  // namespace almanac::live
