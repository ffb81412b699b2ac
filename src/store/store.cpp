// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "store/database.h"
#include "store/log.h"
#include "store/tables.h"

namespace almanac::store {
namespace {

/// So many jobs are forgotten in one transaction: no commit waits for more.
constexpr std::int64_t kForgottenAtOnce = 500;

}  // namespace

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path) {
  return guarded(path, [&] { return Store(std::make_unique<Database>(path)); });
}

const std::string& Store::copy_of_before() const { return database_->copy_of_before(); }

void Store::Batch::change(const Job& before, Job after) {
  const std::uint64_t fields = differing_fields(before, after);
  if (fields != 0) jobs_.push_back({std::move(after), fields});
}

Commit Store::commit(const Batch& batch) {
  Result<void> written = database_->write([&](Connection& connection) {
    JobUpdate update(connection);
    for (const Batch::Put& each : batch.jobs_) {
      const bool is_all = each.fields == Batch::kAllFields;
      if (is_all || !update.run(each.job, each.fields)) write(connection, each.job);
    }
    for (const Note& note : batch.notes_) write(connection, note);
    for (const Told& told : batch.told_) write(connection, told);
    for (const Report& report : batch.reports_) write(connection, report);
    for (const Moment& moment : batch.moments_) write(connection, moment);
    for (const auto& setting : batch.settings_) write(connection, setting);
  });
  if (written) return {};
  using Kind = Commit::Kind;
  Error& why = written.error();
  const Kind kind = why.code == Code::invalid   ? Kind::refused
                    : why.code == Code::corrupt ? Kind::damaged
                                                : Kind::not_now;
  return {kind, std::move(why)};
}

Result<JobNumber> Store::last_number() const { return database_->read(read_last_number); }

Result<std::vector<Job>> Store::unfinished() const { return database_->read(read_unfinished); }

Result<std::optional<Job>> Store::job(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_job(connection, number); });
}

Result<std::optional<bool>> Store::ended_well(JobNumber number) const {
  return database_->read(
      [&](Connection& connection) { return read_ended_well(connection, number); });
}

Result<std::optional<JobNumber>> Store::task(JobNumber array, std::int32_t index) const {
  return database_->read(
      [&](Connection& connection) { return read_task(connection, array, index); });
}

Result<std::vector<JobNumber>> Store::submitted(std::uint32_t uid, const std::string& key) const {
  return database_->read(
      [&](Connection& connection) { return read_submitted(connection, uid, key); });
}

Result<std::vector<Job>> Store::jobs(const Filter& filter) const {
  return database_->read([&](Connection& connection) { return read_jobs(connection, filter); });
}

Result<std::vector<Note>> Store::notes(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_notes(connection, number); });
}

Result<std::vector<Told>> Store::told(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_told(connection, number); });
}

Result<std::vector<Report>> Store::reports(const std::string& group) const {
  return database_->read([&](Connection& connection) { return read_reports(connection, group); });
}

Result<std::vector<SweepCount>> Store::sweeps(std::int64_t most) const {
  return database_->read([&](Connection& connection) { return read_sweeps(connection, most); });
}

Result<std::vector<Moment>> Store::moments(Time since, std::int64_t most) const {
  return database_->read(
      [&](Connection& connection) { return read_moments(connection, since, most); });
}

Result<std::optional<std::string>> Store::get(const std::string& key) const {
  return database_->read([&](Connection& connection) { return read_setting(connection, key); });
}

Result<trace::Trace> Store::log(Time since, std::int64_t most, Time until) const {
  return ended(since, most, until).map([&](const std::vector<Job>& jobs) {
    return log_of(jobs, database_->path());
  });
}

Result<std::vector<Job>> Store::ended(Time since, std::int64_t most, Time until) const {
  return database_->read(
      [&](Connection& connection) { return read_ended(connection, since, most, until); });
}

Result<std::int64_t> Store::forget(Time before) {
  const auto sampled =
      database_->write([&](Connection& connection) { drop_moments(connection, before); });
  if (!sampled) return tl::unexpected(sampled.error());
  for (std::int64_t all = 0;;) {
    std::int64_t dropped = 0;
    const auto done = database_->write(
        [&](Connection& connection) { dropped = drop_jobs(connection, before, kForgottenAtOnce); });
    if (!done) return tl::unexpected(done.error());
    all += dropped;
    if (dropped < kForgottenAtOnce) return all;
  }
}

Result<void> Store::forget_environments(Time before) {
  return database_->write([&](Connection& connection) { drop_environments(connection, before); });
}

}  // namespace almanac::store
