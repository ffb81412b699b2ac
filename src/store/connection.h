// SPDX-License-Identifier: Apache-2.0

/// \file
/// One connection to the file, with its prepared statements.
///
/// SQLiteCpp throws; failure.h converts exceptions to Errors.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include <SQLiteCpp/SQLiteCpp.h>

namespace almanac::store {

class Connection {
 public:
  enum class Access { read, write };
  /// The file must be there.
  Connection(const std::string& path, Access access);

  SQLite::Database& database() { return database_; }
  /// Prepared at the first call.
  SQLite::Statement& statement(const std::string& sql);
  /// Returns the value of a PRAGMA, or the result of setting it.
  std::int64_t number_of(const std::string& pragma);

 private:
  SQLite::Database database_;
  std::unordered_map<std::string, SQLite::Statement> statements_;
};

}  // namespace almanac::store
