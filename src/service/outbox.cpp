// SPDX-License-Identifier: Apache-2.0
#include "service/outbox.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>

#include "process/descriptor.h"
#include "service/log.h"

namespace almanac::service {

using store::JobNumber;

namespace {

/// A disk that would not take what has changed is tried again after so long.
constexpr Duration kTryAgain = 1s;
/// A store that refuses the record of a job is asked again after so long.
constexpr Duration kAskAgain = 1min;
/// What is written to see whether the disk takes anything again.
constexpr const char* kTriedKey = "disk_tried_ms";

template <typename T>
void put_in_front(std::vector<T>& all, std::vector<T> earlier) {
  std::move(all.begin(), all.end(), std::back_inserter(earlier));
  all = std::move(earlier);
}

}  // namespace

bool Outbox::Rest::empty() const {
  return notes.empty() && told.empty() && reports.empty() && moments.empty() && values.empty();
}

void Outbox::Rest::add_to(store::Store::Batch& batch) const {
  for (const store::Note& each : notes) batch.note(each);
  for (const store::Told& each : told) batch.told(each);
  for (const store::Report& each : reports) batch.report(each);
  for (const store::Moment& each : moments) batch.sample(each);
  for (const auto& [key, value] : values) batch.set(key, value);
}

void Outbox::Rest::take_back(Rest earlier) {
  put_in_front(notes, std::move(earlier.notes));
  put_in_front(told, std::move(earlier.told));
  put_in_front(reports, std::move(earlier.reports));
  put_in_front(moments, std::move(earlier.moments));
  values.merge(earlier.values);
}

void Outbox::promote(JobNumber job) {
  auto covered = covered_.extract(job);
  if (covered.empty()) return;
  jobs_[job] = std::move(covered.mapped().before);
  std::move(covered.mapped().notes.begin(), covered.mapped().notes.end(),
            std::back_inserter(rest_.notes));
}

void Outbox::mark(JobNumber job) {
  if (job == being_covered_) {
    covered_[job];
    return;
  }
  promote(job);
  jobs_[job] = std::nullopt;  // more of it may have changed than is known
}

void Outbox::note(store::Note note) {
  if (note.job == being_covered_) {
    covered_[note.job].notes.push_back(std::move(note));
    return;
  }
  promote(note.job);
  rest_.notes.push_back(std::move(note));
}

void Outbox::cover(JobNumber job, std::optional<store::Job> before,
                   const std::function<void()>& change) {
  if (jobs_.contains(job)) return change();
  const bool is_first = !covered_.contains(job);
  being_covered_ = job;
  change();
  being_covered_.reset();
  const auto covered = covered_.find(job);
  if (is_first && covered != covered_.end()) covered->second.before = std::move(before);
}

void Outbox::keep(JobNumber job, store::Job record) {
  promote(job);
  if (const auto found = jobs_.find(job); found != jobs_.end()) found->second = std::move(record);
}

Time Outbox::due(Time now) const {
  const bool is_unsaved =
      !jobs_.empty() || !covered_.empty() || !rest_.empty() || is_journal_stale_;
  return is_unsaved && trouble_.empty() ? now : again_;
}

void Outbox::try_again(Time now) { again_ = now + kTryAgain; }

void Outbox::refuse(const Error& why, Time now) {
  if (trouble_.empty()) log_error(to_string(why));
  trouble_ = to_string(why);
  try_again(now);
}

bool Outbox::has_room() const {
  // A word may go into what the log has already; the next submission would be refused again.
  constexpr off_t kRoom = 1 << 20;
  const process::Descriptor file(::open(state_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT;
  const int number = ::posix_fallocate(file.get(), 0, kRoom);
  return number != ENOSPC && number != EDQUOT;
}

Outbox::Due Outbox::take_due(Time now) {
  if (again_ <= now) {
    for (const JobNumber job : refused_) mark(job);
  }
  Due due{.jobs = std::exchange(jobs_, {}), .rest = std::exchange(rest_, {})};
  if (!trouble_.empty()) return due;
  for (std::size_t taken = 0; taken < kAtOnce && !covered_.empty(); ++taken) {
    auto next = covered_.extract(covered_.begin());
    due.jobs.emplace(next.key(), std::move(next.mapped().before));
    std::move(next.mapped().notes.begin(), next.mapped().notes.end(),
              std::back_inserter(due.rest.notes));
  }
  return due;
}

Result<std::set<JobNumber>> Outbox::write(const store::Store::Batch& batch, const Due& due,
                                          const RecordOf& record, const CommitBatch& commit) const {
  using Kind = store::Commit::Kind;
  const store::Commit saved = commit(batch);
  if (saved) return std::set<JobNumber>{};
  if (saved.kind == Kind::not_now) return tl::unexpected(saved.why);
  // The cause is not the disk but the record of some job. The others must not wait for it.
  std::set<JobNumber> refused;
  Journal journal = journal_;
  for (const auto& [number, before] : due.jobs) {
    store::Store::Batch own;
    own.put(record(number));
    for (const store::Note& note : due.rest.notes) {
      if (note.job == number) own.note(note);
    }
    Journal without = journal;
    if (without.saved({number}) || is_journal_stale_) own.set(kJournalKey, without.to_json());
    const store::Commit one = commit(own);
    if (one.kind == Kind::not_now) return tl::unexpected(one.why);
    if (one) {
      journal = std::move(without);
    } else {
      refused.insert(number);
    }
  }
  // A store that is damaged refuses them all.
  if (saved.kind == Kind::damaged && refused.size() == due.jobs.size()) {
    return tl::unexpected(saved.why);
  }
  store::Store::Batch others;
  Rest{.reports = due.rest.reports, .moments = due.rest.moments, .values = due.rest.values}.add_to(
      others);
  if (is_journal_stale_) others.set(kJournalKey, journal.to_json());
  if (const store::Commit done = commit(others); !done) return tl::unexpected(done.why);
  for (const JobNumber number : refused) {
    if (is_refused(number)) continue;
    log_error(fmt::format("the store refuses the record of job {}, so the job does not start: {}",
                          number, to_string(saved.why)));
  }
  return refused;
}

std::optional<Outbox::Saved> Outbox::save(Time now, const RecordOf& record,
                                          const CommitBatch& commit) {
  // Others add to these while the disk works.
  Due due = take_due(now);
  store::Store::Batch batch;
  std::vector<JobNumber> jobs;
  for (const auto& [number, before] : due.jobs) {
    jobs.push_back(number);
    if (before) {
      batch.change(*before, record(number));
    } else {
      batch.put(record(number));
    }
  }
  due.rest.add_to(batch);
  Journal without = journal_;
  if (without.saved(jobs) || is_journal_stale_) batch.set(kJournalKey, without.to_json());
  if (jobs.empty() && batch.empty() && !trouble_.empty() && again_ <= now) {
    try_again(now);
    if (has_room()) batch.set(kTriedKey, std::to_string(now.time_since_epoch().count()));
  }
  if (jobs.empty() && batch.empty()) return std::nullopt;
  const auto refused = write(batch, due, record, commit);
  if (!refused) {
    refuse(refused.error(), now);
    jobs_.merge(due.jobs);
    rest_.take_back(std::move(due.rest));
    return std::nullopt;
  }
  std::vector<JobNumber> written;
  std::set_difference(jobs.begin(), jobs.end(), refused->begin(), refused->end(),
                      std::back_inserter(written));
  journal_.saved(written);
  is_journal_stale_ = false;
  for (const JobNumber number : jobs) refused_.erase(number);
  refused_.insert(refused->begin(), refused->end());
  if (!trouble_.empty() && !has_room()) {
    try_again(now);
  } else {
    if (!trouble_.empty()) log_info("the store can be written again");
    trouble_.clear();
    again_ = refused_.empty() ? kNever : now + kAskAgain;
  }
  for (const std::string& folder : std::exchange(folders_, {})) {
    std::error_code ignored;  // what stays is swept when the next service begins
    std::filesystem::remove_all(folder, ignored);
  }
  return Saved{.jobs = std::move(jobs), .notes = std::move(due.rest.notes)};
}

}  // namespace almanac::service
