// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rows of a table with a header, in any file format.
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
  /// Returns the position of a column; nothing if the table does not have it.
  std::optional<std::size_t> find(std::string_view column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }

  /// Moves to the next row; false at the end. After an invalid row, reading can continue with the
  /// next row; after corrupt it cannot.
  virtual Result<bool> next() = 0;
  /// Returns a field of the row, valid until next().
  std::string_view operator[](std::size_t column) const { return fields_[column]; }
  /// Returns the line in which the row starts, from 1.
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
