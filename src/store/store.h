// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps the jobs of the live service on disk: nothing that was acknowledged is ever lost.
///
/// One SQLite file in WAL mode, written by one connection. A Batch is all or nothing and is on the
/// disk (fsync) when commit() returns; several submissions share one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
};

/// What a job was told of its start and end when it came.
struct Told {
  Time at{};
  JobNumber job{};
  std::string policy{};
  Time start_from{}, start_to{}, end_from{}, end_to{};
  double share = 0.9;            ///< That each stretch is said with.
  std::optional<double> kept{};  ///< Chance to end by its deadline.
};

/// A sample of the whole: what the dashboard's curves are made of.
struct Moment {
  Time at{};
  std::int32_t gpus = 0, gpus_busy = 0, jobs_running = 0, jobs_waiting = 0;
  double gpu_use = 0;  ///< Measured, of all GPUs, 0 to 1; NaN = not measured.
  double power_w = 0;
};

/// Which jobs; empty fields do not narrow. Newest first.
struct Filter {
  std::string user{};
  std::string name{};
  std::vector<trace::JobState> states{};
  Time ended_since = kNoTime;
  Time ended_until = kNoTime;
  std::optional<JobNumber> below{};  ///< Only smaller numbers: the next page.
  std::int64_t limit = -1;           ///< -1 = all.
};

class Store {
 public:
  /// Opens or makes the file. Fails with corrupt (and says how to go on), unsupported (written by a
  /// later Almanac), unavailable (read-only, locked, full).
  static Result<Store> open(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Changes that belong together.
  class Batch {
   public:
    /// Of a new job, and of any that changed.
    void put(const Job& job);
    void note(const Note& note);
    void told(const Told& told);
    void sample(const Moment& moment);
    void set(const std::string& key, const std::string& value);
    bool empty() const;

   private:
    friend class Store;
    std::vector<Job> jobs_;
    std::vector<Note> notes_;
    std::vector<Told> told_;
    std::vector<Moment> moments_;
    std::vector<std::pair<std::string, std::string>> values_;
  };
  /// All of it, or nothing and why. On disk when it returns.
  Result<void> commit(const Batch& batch);

  /// The largest number ever given; 0 = none. Survives forget().
  Result<JobNumber> last_number() const;
  /// Jobs that wait or run, in order of number.
  Result<std::vector<Job>> unfinished() const;
  Result<std::optional<Job>> job(JobNumber number) const;
  Result<std::vector<Job>> jobs(const Filter& filter) const;
  Result<std::vector<Note>> notes(JobNumber number) const;
  Result<std::vector<Told>> told(JobNumber number) const;
  Result<std::vector<Moment>> moments(Time since) const;
  Result<std::optional<std::string>> get(const std::string& key) const;
  /// The jobs that ended at or after `since`, as a job log: for study, predict and simulate.
  Result<trace::Trace> log(Time since) const;
  /// Drops what ended before; gives how many jobs.
  Result<std::int64_t> forget(Time before);

 private:
  struct Database;
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace almanac::store
