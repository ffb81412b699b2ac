// SPDX-License-Identifier: Apache-2.0

/// \file
/// How each type of a record is stored in a column.
///
/// Missing values (kNoTime, kNoDuration, NaN, an empty list) are NULL. Times and durations are
/// milliseconds, states are words, lists of numbers are JSON, so any SQLite shell can read the
/// file. The words of a command are bytes, each followed by a zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/time.h"
#include "cluster/ledger.h"
#include "store/job.h"

namespace almanac::store {

/// Returns the words of a command as bytes for read().
std::string packed(const std::vector<std::string>& words);
std::vector<std::string> unpacked(const std::string& bytes);

// Bind parameters of statements, counted from 1. A text must outlive the statement's run. Throw
// Refused (invalid) for a command word with a zero byte, which could not be run.
void bind(SQLite::Statement& statement, int at, bool value);
void bind(SQLite::Statement& statement, int at, std::int32_t value);
void bind(SQLite::Statement& statement, int at, std::uint32_t value);
void bind(SQLite::Statement& statement, int at, std::int64_t value);
void bind(SQLite::Statement& statement, int at, double value);
void bind(SQLite::Statement& statement, int at, const std::string& value);
void bind(SQLite::Statement& statement, int at, JobNumber value);
void bind(SQLite::Statement& statement, int at, Time value);
void bind(SQLite::Statement& statement, int at, Duration value);
void bind(SQLite::Statement& statement, int at, trace::JobState value);
void bind(SQLite::Statement& statement, int at, trace::Requeue value);
void bind(SQLite::Statement& statement, int at, Intent value);
void bind(SQLite::Statement& statement, int at, const std::vector<std::string>& words);
void bind(SQLite::Statement& statement, int at, const std::vector<int>& numbers);
void bind(SQLite::Statement& statement, int at, const std::vector<JobNumber>& numbers);
void bind(SQLite::Statement& statement, int at, const std::vector<cluster::Grant>& grants);
template <typename T>
void bind(SQLite::Statement& statement, int at, const std::optional<T>& value) {
  value ? bind(statement, at, *value) : statement.bind(at);
}

// Throw Refused (corrupt) for anything that the functions above would not have written.
void read(const SQLite::Column& column, bool& value);
void read(const SQLite::Column& column, std::int32_t& value);
void read(const SQLite::Column& column, std::uint32_t& value);
void read(const SQLite::Column& column, std::int64_t& value);
void read(const SQLite::Column& column, double& value);
void read(const SQLite::Column& column, std::string& value);
void read(const SQLite::Column& column, JobNumber& value);
void read(const SQLite::Column& column, Time& value);
void read(const SQLite::Column& column, Duration& value);
void read(const SQLite::Column& column, trace::JobState& value);
void read(const SQLite::Column& column, trace::Requeue& value);
void read(const SQLite::Column& column, Intent& value);
void read(const SQLite::Column& column, std::vector<std::string>& words);
void read(const SQLite::Column& column, std::vector<int>& numbers);
void read(const SQLite::Column& column, std::vector<JobNumber>& numbers);
void read(const SQLite::Column& column, std::vector<cluster::Grant>& grants);
template <typename T>
void read(const SQLite::Column& column, std::optional<T>& value) {
  column.isNull() ? value.reset() : read(column, value.emplace());
}

}  // namespace almanac::store
