// SPDX-License-Identifier: Apache-2.0

/// \file
/// A table of published figures in memory, by column name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

class Sheet {
 public:
  /// Fails like table::CsvReader, and with `invalid` if one of `columns` is missing.
  static Result<Sheet> read(const std::string& path, const std::vector<std::string>& columns);

  std::size_t rows() const { return texts_.empty() ? 0 : texts_.front().size(); }
  bool has(std::string_view column) const { return find(column) < names_.size(); }
  const std::string& text(std::string_view column, std::size_t row) const;
  /// Fails with `invalid`, naming file and line, if a cell is not a number.
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
