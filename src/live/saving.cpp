// SPDX-License-Identifier: Apache-2.0

/// \file
/// What has changed, to the disk: all of it at once, or, where the store refuses one job's record,
/// the others without it.
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "live/core.h"
#include "live/life.h"
#include "live/log.h"
#include "process/descriptor.h"

namespace almanac::live {

using store::JobNumber;

namespace {

/// What is written to see whether the disk takes anything again.
constexpr const char* kTriedKey = "disk_tried_ms";

}  // namespace

void Core::disk_refuses(const Error& why) {
  if (trouble_.empty()) log_error(to_string(why));
  trouble_ = to_string(why);
  save_again_ = now_ + kTryAgain;
  changed_ = true;
}

bool Core::has_room() const {
  // A word may go into what the log has already; the next submission would be refused again.
  constexpr off_t kRoom = 1 << 20;
  const process::Descriptor file(
      ::open(config_.state.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT;
  const int number = ::posix_fallocate(file.get(), 0, kRoom);
  return number != ENOSPC && number != EDQUOT;
}

store::Commit Core::commit(Lock& lock, const store::Store::Batch& batch) {
  if (batch.empty()) return {};
  const auto begun = std::chrono::steady_clock::now();
  line_.has_changed = true;
  lock.unlock();
  store::Commit saved = store_.commit(batch);
  lock.lock();
  counters_.commit_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!saved) ++counters_.failed_commits;
  if (saved.kind == store::Commit::Kind::not_now) disk_refuses(saved.why);
  return saved;
}

Result<std::set<JobNumber>> Core::commit_what_goes(Lock& lock, const store::Store::Batch& batch,
                                                   const Unsaved& what) {
  using Kind = store::Commit::Kind;
  const store::Commit saved = commit(lock, batch);
  if (saved) return std::set<JobNumber>{};
  if (saved.kind == Kind::not_now) return tl::unexpected(saved.why);
  // It is not the disk: the record of some job is at fault, and the others are not to wait for it.
  std::set<JobNumber> refused;
  for (const JobNumber number : what.jobs) {
    store::Store::Batch own;
    own.put(book_.find(number)->job);
    for (const store::Note& note : what.notes) {
      if (note.job == number) own.note(note);
    }
    const store::Commit one = commit(lock, own);
    if (one.kind == Kind::not_now) return tl::unexpected(one.why);
    if (!one) refused.insert(number);
  }
  // A store that is damaged refuses them all.
  if (saved.kind == Kind::damaged && refused.size() == what.jobs.size()) {
    return tl::unexpected(saved.why);
  }
  store::Store::Batch rest;
  for (const store::Report& report : what.reports) rest.report(report);
  for (const store::Moment& moment : what.moments) rest.sample(moment);
  for (const auto& [key, value] : what.values) rest.set(key, value);
  if (const store::Commit others = commit(lock, rest); !others) return tl::unexpected(others.why);
  for (const JobNumber number : refused) {
    if (refused_.contains(number)) continue;
    log_error(fmt::format("job {} cannot be kept, and nothing of it starts: {}", number,
                          to_string(saved.why)));
  }
  return refused;
}

void Core::save(Lock& lock) {
  constexpr Duration kAskAgain = 1min;
  if (save_again_ <= now_) dirty_.insert(refused_.begin(), refused_.end());
  store::Store::Batch batch;
  // Other threads add to these while the disk works.
  Unsaved what{.jobs = std::exchange(dirty_, {}),
               .notes = notes_,
               .reports = std::exchange(reports_, {}),
               .moments = std::exchange(moments_, {}),
               .values = values_};
  const std::vector<store::Told> told = std::exchange(told_, {});
  for (const JobNumber number : what.jobs) {
    if (!kept_.contains(number)) batch.put(book_.find(number)->job);
  }
  for (const store::Note& note : what.notes) batch.note(note);
  for (const store::Told& each : told) batch.told(each);
  for (const store::Report& report : what.reports) batch.report(report);
  for (const store::Moment& moment : what.moments) batch.sample(moment);
  for (const auto& [key, value] : what.values) batch.set(key, value);
  const bool is_nothing = batch.empty() && what.jobs.empty();
  if (is_nothing && !trouble_.empty() && save_again_ <= now_) {
    save_again_ = now_ + kTryAgain;
    if (has_room()) batch.set(kTriedKey, std::to_string(now_.time_since_epoch().count()));
  }
  if (batch.empty() && what.jobs.empty()) return;
  const auto saved = commit_what_goes(lock, batch, what);
  if (!saved) {
    disk_refuses(saved.error());
    dirty_.merge(what.jobs);
    told_.insert(told_.begin(), told.begin(), told.end());
    reports_.insert(reports_.begin(), what.reports.begin(), what.reports.end());
    moments_.insert(moments_.begin(), what.moments.begin(), what.moments.end());
    return;
  }
  for (const JobNumber number : what.jobs) {
    refused_.erase(number);
    if (!dirty_.contains(number)) kept_.erase(number);
  }
  refused_.insert(saved->begin(), saved->end());
  if (!trouble_.empty() && !has_room()) {
    save_again_ = now_ + kTryAgain;
  } else {
    if (!trouble_.empty()) log_info("the store is back");
    trouble_.clear();
    save_again_ = refused_.empty() ? kNever : now_ + kAskAgain;
  }
  if (hooks_) {
    for (const store::Note& note : what.notes) {
      const Entry* const entry = book_.find(note.job);
      if (entry != nullptr) hooks_->hear(entry->job, note);
    }
  }
  for (const JobNumber number : what.jobs) {
    const Entry& entry = *book_.find(number);
    // One that was stopped may end before its process has gone: it is let go of with that.
    if (!has_ended(entry.job) || entry.run || refused_.contains(number)) continue;
    gate_.count(entry.job, -1);
    has_moved(entry.job);
    book_.erase(number);
  }
  notes_.clear();
  values_.clear();
  for (const std::string& folder : std::exchange(old_folders_, {})) {
    std::error_code ignored;  // what stays is swept when the next service begins
    std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace almanac::live
