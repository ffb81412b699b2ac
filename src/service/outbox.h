// SPDX-License-Identifier: Apache-2.0

/// \file
/// Collects what must be written to the disk, and what may be done after that.
///
/// The next save() writes all changes. Only records that a change of the journal covers may wait:
/// save() writes 500 of them at a time, so that a change of very many jobs delays no user.
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
#include "service/journal.h"
#include "store/store.h"

namespace almanac::service {

/// Writes what the store does not have yet in one commit. If the store refuses the record of a job,
/// it writes the others without it. Not thread-safe; more may come while a batch is committed.
class Outbox {
 public:
  using RecordOf = std::function<const store::Job&(store::JobNumber)>;
  using CommitBatch = std::function<store::Commit(const store::Store::Batch&)>;
  /// Covered records written at once; they take some 10 ms.
  static constexpr std::size_t kAtOnce = 500;

  /// After a full disk, `state` is the folder that must have room again.
  explicit Outbox(std::string state) : state_(std::move(state)) {}

  /// Notes that the record of a job has changed.
  void mark(store::JobNumber job);
  void note(store::Note note);
  /// Runs `change`, which changes the record of a job as a wish of the journal says; a later save()
  /// writes the record. `before` is the record in the store, if it has one.
  void cover(store::JobNumber job, std::optional<store::Job> before,
             const std::function<void()>& change);
  /// Notes that the store has got this record of a job. The next save() writes only what differs.
  void keep(store::JobNumber job, store::Job record);
  /// Key of the journal in the store, which save() writes with the records. A wish must be
  /// committed before any of it is done.
  static constexpr const char* kJournalKey = "journal";
  Journal& journal() { return journal_; }
  /// Notes that a wish of the journal changed nothing of these jobs, in order of number.
  void settle(const std::vector<store::JobNumber>& jobs) {
    is_journal_stale_ = journal_.saved(jobs) || is_journal_stale_;
  }
  const Journal& journal() const { return journal_; }
  void told(const store::Told& told) {
    promote(told.job);  // the store must know the job
    rest_.told.push_back(told);
  }
  void report(const store::Report& report) { rest_.reports.push_back(report); }
  void sample(const store::Moment& moment) { rest_.moments.push_back(moment); }
  /// Replaces a value that is not on the disk yet.
  void set(const std::string& key, std::string value) { rest_.values[key] = std::move(value); }
  /// Removes a folder once all present changes are on the disk.
  void discard(std::string folder) { folders_.push_back(std::move(folder)); }

  /// Whether the record of the job differs from the one in the store.
  bool is_unsaved(store::JobNumber job) const {
    return jobs_.contains(job) || covered_.contains(job) || is_refused(job);
  }
  /// Whether the store refuses the record of the job.
  bool is_refused(store::JobNumber job) const { return refused_.contains(job); }
  const std::set<store::JobNumber>& refused() const { return refused_; }
  bool has_reports() const { return !rest_.reports.empty(); }
  /// Why nothing can be written; "" if it can.
  const std::string& trouble() const { return trouble_; }
  /// When save() is due; kNever if there is nothing to write.
  Time due(Time now) const;

  /// Notes that nothing can be written now. Tries again in a second.
  void refuse(const Error& why, Time now);
  void try_again(Time now);

  struct Saved {
    std::vector<store::JobNumber> jobs{};
    std::vector<store::Note> notes{};
  };
  /// Writes all that is due by `commit`, and returns what of it is on the disk now; nothing if
  /// nothing is.
  std::optional<Saved> save(Time now, const RecordOf& record, const CommitBatch& commit);

 private:
  /// What is not the record of a job.
  struct Rest {
    std::vector<store::Note> notes{};
    std::vector<store::Told> told{};
    std::vector<store::Report> reports{};
    std::vector<store::Moment> moments{};
    std::map<std::string, std::string> values{};

    bool empty() const;
    void add_to(store::Store::Batch& batch) const;
    /// Puts what could not be written in front of what came meanwhile.
    void take_back(Rest earlier);
  };
  /// Jobs to write, with the records that the store has, if known: only differences are written.
  using Jobs = std::map<store::JobNumber, std::optional<store::Job>>;
  struct Covered {
    std::optional<store::Job> before{};
    std::vector<store::Note> notes{};
  };
  /// What is written at once.
  struct Due {
    Jobs jobs{};
    Rest rest{};
  };
  /// Takes all that must be written at once, and the next covered records.
  Due take_due(Time now);
  /// Lets the next save() write a covered record.
  void promote(store::JobNumber job);
  /// Writes `batch`. If the store refuses records of jobs, writes the others, and returns the
  /// refused ones.
  Result<std::set<store::JobNumber>> write(const store::Store::Batch& batch, const Due& due,
                                           const RecordOf& record, const CommitBatch& commit) const;
  /// Whether the disk has enough room again.
  bool has_room() const;

  std::string state_;
  Jobs jobs_;  // to be written at once
  Rest rest_;
  std::map<store::JobNumber, Covered> covered_;    // to be written later; none is in jobs_
  std::optional<store::JobNumber> being_covered_;  // which cover() changes now
  Journal journal_;
  bool is_journal_stale_ = false;  // the store's names jobs that this one does not
  std::vector<std::string> folders_;
  std::set<store::JobNumber> refused_;
  std::string trouble_;
  Time again_ = kNever;
};

}  // namespace almanac::service
