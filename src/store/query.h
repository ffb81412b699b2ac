// SPDX-License-Identifier: Apache-2.0

/// \file
/// A statement on its way: values in, columns out, each in order and by its type.
#pragma once

#include <string>

#include "store/connection.h"
#include "store/value.h"

namespace almanac::store {

/// Runs a statement; one use of each statement at a time. Every parameter must be set.
class Query {
 public:
  Query(Connection& connection, const std::string& sql) : statement_(connection.statement(sql)) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  /// Lets go of the file; an error of the last step has been thrown before.
  ~Query() { statement_.tryReset(); }

  template <typename T>
  Query& with(const T& value) {
    bind(statement_, ++parameter_, value);
    return *this;
  }
  /// Steps to the next row; returns false if there is none.
  bool step() {
    column_ = 0;
    return statement_.executeStep();
  }
  /// Runs a statement without rows; gives how many it changed.
  int run() { return statement_.exec(); }
  /// The next column.
  template <typename T>
  void into(T& value) {
    read(statement_.getColumn(column_++), value);
  }
  template <typename T>
  T next() {
    T value{};
    into(value);
    return value;
  }

 private:
  SQLite::Statement& statement_;
  int parameter_ = 0;
  int column_ = 0;
};

}  // namespace almanac::store
