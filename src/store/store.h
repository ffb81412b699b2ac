// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps the jobs of the live service on disk: nothing acknowledged is ever lost.
///
/// One SQLite file in WAL mode, written by one connection. A Batch is all or nothing, and is on
/// disk (fsync) when commit() returns; several submissions share one. Reads use connections of
/// their own: any thread may read, and no read waits for a commit.
///
/// Cost: a commit is one fsync plus about 40 us per job; unfinished() takes about 4 us per job.
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

/// The forecast that a job got when it was submitted.
struct Told {
  Time at{};
  JobNumber job{};
  std::string policy{};
  Time start_from{}, start_to{}, end_from{}, end_to{};
  double share = 0.9;            ///< Probability of each interval.
  std::optional<double> kept{};  ///< Chance to end by its deadline.

  bool operator==(const Told&) const = default;
};

/// A metric reported by a job, at the step that it reported before. The last report of a step
/// counts. Of a job with more than kMostReports, every second one is dropped, except the best.
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
  std::string user{};  ///< One of the users.
  std::int64_t trials = 0, waiting = 0, running = 0;
  Time begun{};  ///< When the first was submitted.

  bool operator==(const SweepCount&) const = default;
};

/// A sample of the whole: what the dashboard's curves are made of.
struct Moment {
  Time at{};
  std::int32_t gpus = 0, gpus_busy = 0, jobs_running = 0, jobs_waiting = 0;
  double gpu_use = 0;  ///< Mean over all GPUs, 0 to 1; NaN if not measured.
  double power_w = 0;
  std::optional<bool> power_is_measured{};  ///< False if modelled; nothing if not recorded.
};

/// Selects jobs; empty fields match all. Highest number first.
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

/// Result of a commit.
struct Commit {
  enum class Kind : std::uint8_t {
    kept,
    /// The disk is full, or the file locked: nothing is written, and a retry may succeed.
    not_now,
    refused,  ///< A record breaks a rule of the store, which takes the others without it.
    damaged,  ///< The file is damaged, at the place of a record or everywhere.
  };
  Kind kind = Kind::kept;
  Error why{};  ///< Except for `kept`.

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
  /// Opens or creates the file; reads all of it once, to find damage. Fails with `conflict`
  /// (another Store has it open), `corrupt` (with advice), `unsupported` (written by a later
  /// Almanac), `invalid` (written by another program), `not_found` (no such folder), or
  /// `unavailable` (read-only, full).
  static Result<Store> open(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Changes that belong together.
  class Batch {
   public:
    /// Adds a new job, or one that changed. Its submission stays as first stored; the tasks of an
    /// array share that of the first task.
    void put(Job job) { jobs_.push_back({std::move(job), kAllFields}); }
    /// Updates a job that the store has as `before`: writes only the differences, in a quarter of
    /// the time.
    void change(const Job& before, Job after);
    /// Calls `visit` with each job that was put or changed.
    template <typename Visit>
    void each_job(Visit&& visit) const {
      for (const Put& each : jobs_) visit(each.job);
    }
    /// Adds a note on a job that is in the store or in this batch.
    void note(Note note) { notes_.push_back(std::move(note)); }
    void told(Told told) { told_.push_back(std::move(told)); }
    void report(const Report& report) { reports_.push_back(report); }
    /// Adds a sample; one per instant, later ones replace earlier ones.
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
  /// The copy that open() made of a store from an earlier Almanac, without environments of ended
  /// jobs; "" if none was needed.
  const std::string& copy_of_before() const;
  /// Commits everything, or nothing with the reason. On disk when it returns. Refuses a zero byte
  /// in a command, and a note on an unknown job.
  Commit commit(const Batch& batch);

  /// Returns the highest number ever used; 0 if none. Survives forget().
  Result<JobNumber> last_number() const;
  // Lists omit argv, script and environment, which are most of a job; job() includes them.

  /// Jobs that wait or run, in order of number.
  Result<std::vector<Job>> unfinished() const;
  Result<std::optional<Job>> job(JobNumber number) const;
  /// Returns whether an ended job ended well; for an array, whether all its ended tasks did.
  /// Nothing if there is no such job.
  Result<std::optional<bool>> ended_well(JobNumber number) const;
  /// Returns the number of a task of an array; nothing if there is none.
  Result<std::optional<JobNumber>> task(JobNumber array, std::int32_t index) const;
  /// Returns the jobs that the user has submitted with this key (Submission::key); empty for "".
  Result<std::vector<JobNumber>> submitted(std::uint32_t uid, const std::string& key) const;
  Result<std::vector<Job>> jobs(const Filter& filter) const;
  Result<std::vector<Note>> notes(JobNumber number) const;
  Result<std::vector<Told>> told(JobNumber number) const;
  /// Returns the reports of a group's jobs, in order of number and step.
  Result<std::vector<Report>> reports(const std::string& group) const;
  /// Returns at most this many groups, those with the newest jobs first.
  Result<std::vector<SweepCount>> sweeps(std::int64_t most) const;
  /// If there are more than `most` (-1: no limit), returns every second, third ... sample.
  Result<std::vector<Moment>> moments(Time since, std::int64_t most = -1) const;
  Result<std::optional<std::string>> get(const std::string& key) const;
  /// Returns the jobs that ended from `since` to `until`, at most the last `most` (-1: all), as a
  /// job log: for study, predict and simulate.
  Result<trace::Trace> log(Time since, std::int64_t most = -1, Time until = Time::max()) const;
  /// Returns the same jobs as records, in order of submission.
  Result<std::vector<Job>> ended(Time since, std::int64_t most = -1,
                                 Time until = Time::max()) const;
  /// Deletes jobs that ended earlier, except prerequisites of unfinished ones, and earlier samples.
  /// Returns the number of jobs. Works in small steps, between which commits proceed.
  Result<std::int64_t> forget(Time before);
  /// Drops the environments of what has ended before, of an array when all of it has: they have
  /// passwords in them.
  Result<void> forget_environments(Time before);

 private:
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace almanac::store
