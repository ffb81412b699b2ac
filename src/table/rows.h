// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of a table with a header, however they are written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::table {

class Rows {
 public:
  virtual ~Rows() = default;

  const std::vector<std::string>& header() const { return header_; }
  /// The position of a column, if the table has it.
  std::optional<std::size_t> find(std::string_view column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }

  /// Goes to the next row; false at the end. After invalid (a row that cannot be read) reading can
  /// go on with the row behind; after corrupt (damage) it cannot.
  virtual Result<bool> next() = 0;
  /// A field of the row. Valid until next().
  std::string_view operator[](std::size_t column) const { return fields_[column]; }
  /// The line that the row starts in, from 1.
  std::int64_t line() const { return line_; }
  virtual Where where() const = 0;

 protected:
  Rows() = default;
  Rows(Rows&&) noexcept = default;
  Rows& operator=(Rows&&) noexcept = default;

  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;
  std::int64_t line_ = 0;
};

}  // namespace almanac::table
