// SPDX-License-Identifier: Apache-2.0

/// \file
/// A whole table of published figures in memory, by the names of its columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

class Sheet {
 public:
  /// Fails as table::CsvReader does, and with invalid where one of `columns` is not there.
  static Result<Sheet> read(const std::string& path, const std::vector<std::string>& columns);

  std::size_t rows() const { return texts_.empty() ? 0 : texts_.front().size(); }
  bool has(std::string_view column) const { return find(column) < names_.size(); }
  const std::string& text(std::string_view column, std::size_t row) const;
  /// Fails with invalid, naming file and line, where a cell is no number.
  Result<double> number(std::string_view column, std::size_t row) const;
  Result<std::vector<double>> numbers(std::string_view column) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t find(std::string_view column) const;

  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> texts_;  // by column
  std::vector<std::int64_t> lines_;
};

}  // namespace almanac::inference
