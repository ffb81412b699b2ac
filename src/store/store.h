// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps the jobs of the live service on disk: nothing that was acknowledged is ever lost.
///
/// One SQLite file in WAL mode, written by one connection. A Batch is all or nothing and is on the
/// disk (fsync) when commit() returns; several submissions share one. What is read is read by
/// connections of their own: any thread may, and none waits for a commit.
///
/// Cost: a commit is one fsync and some 40 us a job; unfinished() takes some 4 us a job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/job.h"
#include "trace/trace.h"

namespace almanac::store {

/// Something that happened to a job: "submitted", "started", "preempted", "adopted", "ended".
struct Note {
  Time at{};
  JobNumber job{};
  std::string what{};
  std::string detail{};

  bool operator==(const Note&) const = default;
};

/// What a job was told of its start and end when it came.
struct Told {
  Time at{};
  JobNumber job{};
  std::string policy{};
  Time start_from{}, start_to{}, end_from{}, end_to{};
  double share = 0.9;            ///< That each stretch is said with.
  std::optional<double> kept{};  ///< Chance to end by its deadline.

  bool operator==(const Told&) const = default;
};

/// A metric that a job has reported, at the step that it had said before. Of one step the last one
/// counts; of a job with more than kMostReports every second is dropped, but for the best ones.
struct Report {
  JobNumber job{};
  double step = 0;
  double metric = 0;  ///< Finite.
  Time at{};          ///< When it was seen.

  bool operator==(const Report&) const = default;
};
inline constexpr std::int64_t kMostReports = 512;

/// The jobs of one group, counted.
struct SweepCount {
  std::string name{};
  std::string user{};  ///< One of them.
  std::int64_t trials = 0, waiting = 0, running = 0;
  Time begun{};  ///< When the first was submitted.

  bool operator==(const SweepCount&) const = default;
};

/// A sample of the whole: what the dashboard's curves are made of.
struct Moment {
  Time at{};
  std::int32_t gpus = 0, gpus_busy = 0, jobs_running = 0, jobs_waiting = 0;
  double gpu_use = 0;  ///< Measured, of all GPUs, 0 to 1; NaN = not measured.
  double power_w = 0;
  std::optional<bool> power_is_measured{};  ///< Else a model's; nothing = that was not kept.
};

/// Which jobs; empty fields do not narrow. The largest number first.
struct Filter {
  std::string user{};
  std::string name{};
  std::string group{};
  std::vector<trace::JobState> states{};
  Time ended_since = kNoTime;
  Time ended_until = kNoTime;
  std::optional<JobNumber> below{};  ///< Only smaller numbers: the next page.
  std::optional<JobNumber> above{};  ///< Only larger numbers, and the smallest first.
  bool last_ended_first = false;     ///< Only jobs that have ended.
  std::int64_t limit = -1;           ///< -1 = all.
};

/// What has become of a batch.
struct Commit {
  enum class Kind : std::uint8_t {
    kept,
    not_now,  ///< The disk is full, the file locked: nothing of it is there, and another may be.
    refused,  ///< A record breaks a rule of the store, which takes the others without it.
    damaged,  ///< The file is, where a record would go or all over.
  };
  Kind kind = Kind::kept;
  Error why{};  ///< Of all but `kept`.

  explicit operator bool() const { return kind == Kind::kept; }
  const Error& error() const { return why; }
  operator Result<void>() const {  // NOLINT(google-explicit-constructor): callers that only pass it
                                   // on
    if (kind == Kind::kept) return {};
    return tl::unexpected(why);
  }
};

class Database;

class Store {
 public:
  /// Opens or makes the file; reads all of it once, to find damage. Fails with conflict (another
  /// Store has it open), corrupt (and says how to go on), unsupported (a later Almanac wrote it),
  /// invalid (another program did), not_found (no such folder), unavailable (read-only, full).
  static Result<Store> open(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Changes that belong together.
  class Batch {
   public:
    /// Of a new job, and of any that changed. What was asked stays as first put; the tasks of an
    /// array share what the first of them asked.
    void put(Job job) { jobs_.push_back({std::move(job), kAllFields}); }
    /// Of a job that the store has as `before`: only what differs, which takes a quarter as long.
    void change(const Job& before, Job after);
    /// Calls `visit` with each job that was put or changed.
    template <typename Visit>
    void each_job(Visit&& visit) const {
      for (const Put& each : jobs_) visit(each.job);
    }
    /// Of a job that the store has, or that is put here.
    void note(Note note) { notes_.push_back(std::move(note)); }
    void told(Told told) { told_.push_back(std::move(told)); }
    void report(const Report& report) { reports_.push_back(report); }
    /// One for each moment: a later one takes its place.
    void sample(const Moment& moment) { moments_.push_back(moment); }
    void set(std::string key, std::string value) {
      settings_.emplace_back(std::move(key), std::move(value));
    }
    bool empty() const {
      return jobs_.empty() && notes_.empty() && told_.empty() && reports_.empty() &&
             moments_.empty() && settings_.empty();
    }

   private:
    friend class Store;
    static constexpr std::uint64_t kAllFields = ~std::uint64_t{0};
    struct Put {
      Job job;
      std::uint64_t fields;  // a bit for each that is written, in the order of record.h
    };
    std::vector<Put> jobs_;
    std::vector<Note> notes_;
    std::vector<Told> told_;
    std::vector<Report> reports_;
    std::vector<Moment> moments_;
    std::vector<std::pair<std::string, std::string>> settings_;
  };
  /// The copy that open() has kept of a store that an earlier Almanac wrote, without environments
  /// of jobs that had ended; "" = it is as this one writes it.
  const std::string& copy_of_before() const;
  /// All of it, or nothing and why. On disk when it returns. It refuses a zero byte in a command,
  /// and a note on no job.
  Commit commit(const Batch& batch);

  /// The largest number ever given; 0 = none. Survives forget().
  Result<JobNumber> last_number() const;
  // Lists are without what runs (argv, script, environment), which is most of a job: job() has it.

  /// Jobs that wait or run, in order of number.
  Result<std::vector<Job>> unfinished() const;
  Result<std::optional<Job>> job(JobNumber number) const;
  /// Whether a job that has ended did so well; of an array, by its number, whether all of its tasks
  /// did that have ended. Nothing where there is none.
  Result<std::optional<bool>> ended_well(JobNumber number) const;
  /// The number of a task of an array; nothing where there is none.
  Result<std::optional<JobNumber>> task(JobNumber array, std::int32_t index) const;
  /// The jobs that the user has submitted with this key (Submission::key); none of "".
  Result<std::vector<JobNumber>> submitted(std::uint32_t uid, const std::string& key) const;
  Result<std::vector<Job>> jobs(const Filter& filter) const;
  Result<std::vector<Note>> notes(JobNumber number) const;
  Result<std::vector<Told>> told(JobNumber number) const;
  /// What the jobs of a group have reported, in order of number and step.
  Result<std::vector<Report>> reports(const std::string& group) const;
  /// At most so many groups, those of the latest jobs first.
  Result<std::vector<SweepCount>> sweeps(std::int64_t most) const;
  /// Of more than `most` (-1 = all) every second, third ... is given.
  Result<std::vector<Moment>> moments(Time since, std::int64_t most = -1) const;
  Result<std::optional<std::string>> get(const std::string& key) const;
  /// The jobs that ended at or after `since` and not after `until`, at most so many of the last (-1
  /// = all), as a job log: for study, predict and simulate.
  Result<trace::Trace> log(Time since, std::int64_t most = -1, Time until = Time::max()) const;
  /// The same jobs as they are, in order of submission.
  Result<std::vector<Job>> ended(Time since, std::int64_t most = -1,
                                 Time until = Time::max()) const;
  /// Drops jobs that ended before, but for those that unfinished ones come after, and moments
  /// before; gives how many jobs. In small steps, between which commits go on.
  Result<std::int64_t> forget(Time before);
  /// Drops the environments of what has ended before, of an array when all of it has: they have
  /// passwords in them.
  Result<void> forget_environments(Time before);

 private:
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace almanac::store
