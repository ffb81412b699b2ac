// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads files of the public data for recipes: cell by cell and case by case, or not at all.
///
/// What is not as it should be is thrown as Malformed, with file and line. Private to this room,
/// for the header of JSON is heavy.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reproduce/bench.h"
#include "table/csv_reader.h"

namespace almanac::reproduce {

using Json = nlohmann::json;

/// The value, or Malformed with its error.
template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Malformed{std::move(result.error())};
  return std::move(*result);
}

/// The rows of a CSV file with a header.
class Rows {
 public:
  /// Throws Malformed unless the file has all of `columns`.
  Rows(const std::string& path, std::initializer_list<std::string_view> columns);

  /// Goes to the next row; false at the end.
  bool next();
  const std::vector<std::string>& header() const { return csv_.header(); }
  bool has(std::string_view column) const { return csv_.find(column).has_value(); }
  /// The cell of `column` as it stands. Valid until next().
  std::string_view text(std::string_view column) const;
  double number(std::string_view column) const;
  /// NaN = the cell is empty.
  double number_or_nan(std::string_view column) const;
  std::int64_t whole(std::string_view column) const;
  /// Throws Malformed with this row's place.
  [[noreturn]] void wrong(std::string message) const;
  void require(bool holds, std::string_view message) const {
    if (!holds) wrong(std::string(message));
  }

 private:
  table::CsvReader csv_;
};

/// The numbers of `columns` of a CSV file, by the name of the column. Throws as Rows does.
std::map<std::string, std::vector<double>> read_columns(
    const std::string& path, std::initializer_list<std::string_view> columns);

/// Calls `work` for each case of a file: each line of .jsonl, each element of an array, or the one
/// object that a .json file holds. What `work` throws is told the line, or the number of the case.
void each_case(const File& file, const std::function<void(const Json&)>& work);

/// A .json file as a whole.
Json read_json(const File& file);

}  // namespace almanac::reproduce
