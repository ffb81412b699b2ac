// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shared by the readers of published profiles: a table read by column names.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/measurement.h"
#include "table/csv_reader.h"

namespace almanac::perf::source {

/// Thrown by Rows and turned into a Result by read_profile().
struct Refused {
  Error error;
};

/// Rows of a CSV; what is wrong with one is thrown with file and line.
class Rows {
 public:
  explicit Rows(table::CsvReader csv) : csv_(std::move(csv)) {}

  bool has(std::string_view column) const { return csv_.find(column).has_value(); }
  const std::vector<std::string>& header() const { return csv_.header(); }
  bool next();
  /// The field of a column that there must be.
  std::string_view text(std::string_view column) const;
  /// The number of a column that there must be, within bounds.
  double number(std::string_view column, double least,
                double most = std::numeric_limits<double>::max()) const;
  int whole(std::string_view column, int least, int most) const;
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const;

 private:
  table::CsvReader csv_;
};

/// GPUs and nodes of a placement written as GPUs of each node, a digit each: "1123".
std::pair<int, int> placement_of(const Rows& rows, std::string_view digits);

/// The readers; each takes a table whose header it knows.
Profile read_own_csv(Rows rows, const std::string& path);
Profile read_synergy(Rows rows);
Profile read_adaptdl(Rows rows, const std::string& path);
Profile read_rubick(Rows rows, const std::string& path);
Profile read_gavel(const std::string& path, const std::string& text);

}  // namespace almanac::perf::source
