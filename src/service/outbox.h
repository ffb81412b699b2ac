// SPDX-License-Identifier: Apache-2.0

/// \file
/// What must be on the disk, and what may be done once it is.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/store.h"

namespace almanac::service {

/// Collects what the store does not have yet, and writes it: all of it at once, or, where the store
/// refuses one job's record, the others without it. Not thread-safe; but while a batch is being
/// committed, more may come.
class Outbox {
 public:
  using RecordOf = std::function<const store::Job&(store::JobNumber)>;
  using CommitBatch = std::function<store::Commit(const store::Store::Batch&)>;

  /// `state`: the folder that must have room again before a full disk counts as mended.
  explicit Outbox(std::string state) : state_(std::move(state)) {}

  /// The record of a job has changed.
  void mark(store::JobNumber job) {
    jobs_.insert(job);
    kept_.erase(job);
  }
  /// The store has the record of a job as it is now; what remains is what is said of it.
  void mark_kept(store::JobNumber job) {
    if (jobs_.contains(job)) kept_.insert(job);
  }
  void note(store::Note note) { rest_.notes.push_back(std::move(note)); }
  void told(const store::Told& told) { rest_.told.push_back(told); }
  void report(const store::Report& report) { rest_.reports.push_back(report); }
  void sample(const store::Moment& moment) { rest_.moments.push_back(moment); }
  /// In place of a value that the disk has not taken yet.
  void set(const std::string& key, std::string value) { rest_.values[key] = std::move(value); }
  /// Removes a folder once all that is here now is on the disk.
  void discard(std::string folder) { folders_.push_back(std::move(folder)); }

  /// Whether the store has another record of the job than the service.
  bool is_unsaved(store::JobNumber job) const { return jobs_.contains(job) || is_refused(job); }
  /// Whether the store does not take the record of the job.
  bool is_refused(store::JobNumber job) const { return refused_.contains(job); }
  const std::set<store::JobNumber>& refused() const { return refused_; }
  bool has_reports() const { return !rest_.reports.empty(); }
  /// Why the disk takes nothing; "" = it does.
  const std::string& trouble() const { return trouble_; }
  /// When save() is due; kNever = there is nothing to write.
  Time due(Time now) const;

  /// The disk takes nothing now; it is tried again in a second.
  void refuse(const Error& why, Time now);
  void try_again(Time now);

  struct Saved {
    std::set<store::JobNumber> jobs{};
    std::vector<store::Note> notes{};
  };
  /// Writes all by `commit`, and gives what of it is on the disk now; nothing = nothing is.
  std::optional<Saved> save(Time now, const RecordOf& record, const CommitBatch& commit);

 private:
  /// Beside the records of jobs.
  struct Rest {
    std::vector<store::Note> notes{};
    std::vector<store::Told> told{};
    std::vector<store::Report> reports{};
    std::vector<store::Moment> moments{};
    std::map<std::string, std::string> values{};

    bool empty() const;
    void add_to(store::Store::Batch& batch) const;
    /// Takes back what could not be written, in front of what came meanwhile.
    void take_back(Rest earlier);
  };
  /// `batch`; or, where the store refuses the record of a job, all but such, which it gives.
  Result<std::set<store::JobNumber>> write(const store::Store::Batch& batch,
                                           const std::set<store::JobNumber>& jobs, const Rest& rest,
                                           const RecordOf& record, const CommitBatch& commit) const;
  /// Whether the disk has room again for more than a word.
  bool has_room() const;

  std::string state_;
  std::set<store::JobNumber> jobs_;  // changed since they were saved
  std::set<store::JobNumber> kept_;  // of those: the store has the record as it is
  Rest rest_;
  std::vector<std::string> folders_;
  std::set<store::JobNumber> refused_;
  std::string trouble_;
  Time again_ = kNever;
};

}  // namespace almanac::service
