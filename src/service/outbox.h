// SPDX-License-Identifier: Apache-2.0

/// \file
/// What must be on the disk, and what may be done once it is.
///
/// Whatever changed is written by the next save(). Only records that a change of the journal covers
/// may wait: they are written 500 at a time, so that nobody waits for the change of very many jobs.
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

/// Collects what the store does not have yet, and writes it: all of it at once, or, where the store
/// refuses one job's record, the others without it. Not thread-safe; but while a batch is being
/// committed, more may come.
class Outbox {
 public:
  using RecordOf = std::function<const store::Job&(store::JobNumber)>;
  using CommitBatch = std::function<store::Commit(const store::Store::Batch&)>;
  /// Covered records that are written at once, which takes some 10 ms: nobody waits for more.
  static constexpr std::size_t kAtOnce = 500;

  /// `state`: the folder that must have room again before a full disk counts as mended.
  explicit Outbox(std::string state) : state_(std::move(state)) {}

  /// The record of a job has changed.
  void mark(store::JobNumber job);
  void note(store::Note note);
  /// Runs `change`, which changes the record of a job as a wish of the journal has it: the record
  /// is written when it is its turn. `before`: the record that the store has; nothing = it has
  /// none.
  void cover(store::JobNumber job, std::optional<store::Job> before,
             const std::function<void()>& change);
  /// The store has got this record of a job; the rest of what changed is written by the next
  /// save().
  void keep(store::JobNumber job, store::Job record);
  /// The key by which the store has the journal, which is written with the records. Whoever adds a
  /// wish commits it before anything of it is done.
  static constexpr const char* kJournalKey = "journal";
  Journal& journal() { return journal_; }
  /// A wish of the journal has changed nothing of these, in order of number.
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
  /// In place of a value that the disk has not taken yet.
  void set(const std::string& key, std::string value) { rest_.values[key] = std::move(value); }
  /// Removes a folder once all that is here now is on the disk.
  void discard(std::string folder) { folders_.push_back(std::move(folder)); }

  /// Whether the store has another record of the job than the service.
  bool is_unsaved(store::JobNumber job) const {
    return jobs_.contains(job) || covered_.contains(job) || is_refused(job);
  }
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
    std::vector<store::JobNumber> jobs{};
    std::vector<store::Note> notes{};
  };
  /// Writes by `commit` all that is due, and gives what of it is on the disk now; nothing = nothing
  /// is.
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
  /// And their records, if they are known, as the store has them: what differs is written.
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
  /// All that is to be written at once, and the next of what is covered.
  Due take_due(Time now);
  /// What is covered of a job is to be written at once.
  void promote(store::JobNumber job);
  /// `batch`; or, where the store refuses the record of a job, all but such, which it gives.
  Result<std::set<store::JobNumber>> write(const store::Store::Batch& batch, const Due& due,
                                           const RecordOf& record, const CommitBatch& commit) const;
  /// Whether the disk has room again for more than a word.
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
