// SPDX-License-Identifier: Apache-2.0

/// \file
/// Records into the tables and out of them. All throw (failure.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/connection.h"
#include "store/store.h"

namespace almanac::store {

/// Within a transaction of the caller.
void write(Connection& connection, const Job& job);
/// The fields of a job (record.h) that differ, a bit for each in their order.
std::uint64_t differing_fields(const Job& before, const Job& after);
/// Writes some fields of jobs; the statement is kept while they are the same ones.
class JobUpdate {
 public:
  explicit JobUpdate(Connection& connection) : connection_(connection) {}
  /// Returns whether the store has the job.
  bool run(const Job& job, std::uint64_t fields);

 private:
  Connection& connection_;
  std::uint64_t fields_ = 0;
  std::string sql_;
};
void write(Connection& connection, const Note& note);
void write(Connection& connection, const Told& told);
void write(Connection& connection, const Report& report);
void write(Connection& connection, const Moment& moment);
void write(Connection& connection, const std::pair<std::string, std::string>& setting);

std::optional<Job> read_job(Connection& connection, JobNumber number);
std::optional<bool> read_ended_well(Connection& connection, JobNumber number);
std::vector<Job> read_unfinished(Connection& connection);
std::optional<JobNumber> read_task(Connection& connection, JobNumber array, std::int32_t index);
std::vector<JobNumber> read_submitted(Connection& connection, std::uint32_t uid,
                                      const std::string& key);
std::vector<Job> read_jobs(Connection& connection, const Filter& filter);
/// The jobs that ended from then to then, by submission.
std::vector<Job> read_ended(Connection& connection, Time since, std::int64_t most, Time until);
std::vector<Note> read_notes(Connection& connection, JobNumber number);
std::vector<Told> read_told(Connection& connection, JobNumber number);
std::vector<Report> read_reports(Connection& connection, const std::string& group);
std::vector<SweepCount> read_sweeps(Connection& connection, std::int64_t most);
std::vector<Moment> read_moments(Connection& connection, Time since, std::int64_t most);
std::optional<std::string> read_setting(Connection& connection, const std::string& key);
JobNumber read_last_number(Connection& connection);

/// Deletes up to `most` of the jobs that ended earlier, with all their records; returns their
/// number.
std::int64_t drop_jobs(Connection& connection, Time before, std::int64_t most);
/// Deletes environments of submissions whose jobs have all ended earlier.
void drop_environments(Connection& connection, Time before);
void drop_moments(Connection& connection, Time before);

}  // namespace almanac::store
