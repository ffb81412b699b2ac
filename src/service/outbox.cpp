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

Time Outbox::due(Time now) const {
  const bool is_unsaved = !jobs_.empty() || !rest_.empty();
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

Result<std::set<JobNumber>> Outbox::write(const store::Store::Batch& batch,
                                          const std::set<JobNumber>& jobs, const Rest& rest,
                                          const RecordOf& record, const CommitBatch& commit) const {
  using Kind = store::Commit::Kind;
  const store::Commit saved = commit(batch);
  if (saved) return std::set<JobNumber>{};
  if (saved.kind == Kind::not_now) return tl::unexpected(saved.why);
  // It is not the disk: the record of some job is at fault, and the others are not to wait for it.
  std::set<JobNumber> refused;
  for (const JobNumber number : jobs) {
    store::Store::Batch own;
    own.put(record(number));
    for (const store::Note& note : rest.notes) {
      if (note.job == number) own.note(note);
    }
    const store::Commit one = commit(own);
    if (one.kind == Kind::not_now) return tl::unexpected(one.why);
    if (!one) refused.insert(number);
  }
  // A store that is damaged refuses them all.
  if (saved.kind == Kind::damaged && refused.size() == jobs.size()) {
    return tl::unexpected(saved.why);
  }
  store::Store::Batch others;
  Rest{.reports = rest.reports, .moments = rest.moments, .values = rest.values}.add_to(others);
  if (const store::Commit done = commit(others); !done) return tl::unexpected(done.why);
  for (const JobNumber number : refused) {
    if (is_refused(number)) continue;
    log_error(fmt::format("job {} cannot be kept, and nothing of it starts: {}", number,
                          to_string(saved.why)));
  }
  return refused;
}

std::optional<Outbox::Saved> Outbox::save(Time now, const RecordOf& record,
                                          const CommitBatch& commit) {
  if (again_ <= now) jobs_.insert(refused_.begin(), refused_.end());
  // Others add to these while the disk works.
  std::set<JobNumber> jobs = std::exchange(jobs_, {});
  Rest rest = std::exchange(rest_, {});
  store::Store::Batch batch;
  for (const JobNumber number : jobs) {
    if (!kept_.contains(number)) batch.put(record(number));
  }
  rest.add_to(batch);
  if (jobs.empty() && batch.empty() && !trouble_.empty() && again_ <= now) {
    try_again(now);
    if (has_room()) batch.set(kTriedKey, std::to_string(now.time_since_epoch().count()));
  }
  if (jobs.empty() && batch.empty()) return std::nullopt;
  const auto refused = write(batch, jobs, rest, record, commit);
  if (!refused) {
    refuse(refused.error(), now);
    jobs_.merge(jobs);
    rest_.take_back(std::move(rest));
    return std::nullopt;
  }
  for (const JobNumber number : jobs) {
    refused_.erase(number);
    if (!jobs_.contains(number)) kept_.erase(number);
  }
  refused_.insert(refused->begin(), refused->end());
  if (!trouble_.empty() && !has_room()) {
    try_again(now);
  } else {
    if (!trouble_.empty()) log_info("the store is back");
    trouble_.clear();
    again_ = refused_.empty() ? kNever : now + kAskAgain;
  }
  for (const std::string& folder : std::exchange(folders_, {})) {
    std::error_code ignored;  // what stays is swept when the next service begins
    std::filesystem::remove_all(folder, ignored);
  }
  return Saved{.jobs = std::move(jobs), .notes = std::move(rest.notes)};
}

}  // namespace almanac::service
