// SPDX-License-Identifier: Apache-2.0

/// \file
/// How each type of a record lies in a column.
///
/// Missing (kNoTime, kNoDuration, NaN, an empty list) is NULL. Times and lengths are milliseconds,
/// states are words, lists of numbers JSON; so the file tells its story to any SQLite shell. The
/// words of a command are bytes, a zero after each.
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

/// The words of a command, as bytes that read() tells apart.
std::string packed(const std::vector<std::string>& words);
std::vector<std::string> unpacked(const std::string& bytes);

// Of statements and their parameters, from 1. A text must outlive the statement's run. Throw
// Refused (invalid) at a word of a command with a zero byte in it, which cannot be run.
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
void bind(SQLite::Statement& statement, int at, Intent value);
void bind(SQLite::Statement& statement, int at, const std::vector<std::string>& words);
void bind(SQLite::Statement& statement, int at, const std::vector<int>& numbers);
void bind(SQLite::Statement& statement, int at, const std::vector<JobNumber>& numbers);
void bind(SQLite::Statement& statement, int at, const std::vector<cluster::Grant>& grants);
template <typename T>
void bind(SQLite::Statement& statement, int at, const std::optional<T>& value) {
  value ? bind(statement, at, *value) : statement.bind(at);
}

// Throw Refused (corrupt) at what none of the above would have written.
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
