// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes CSV (RFC 4180) fast: it builds each row in a buffer, field by field.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "table/output_file.h"

namespace almanac::table {

/// Adds rows to a file. Fields are added in order; end_row() ends a row:
///
///   csv.text(name).whole(gpus).time(submit).missing().end_row();
///
/// Missing values (NaN, kNoTime, kNoDuration) are empty fields. Rows may be only in the buffer
/// until flush(). The caller commits the file.
class CsvWriter {
 public:
  explicit CsvWriter(OutputFile& file) : file_(&file), buffer_(kBuffer, '\0') {}
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  CsvWriter& text(std::string_view field) {
    reserve(2 * field.size() + 3);
    if (is_plain(field)) {
      std::memcpy(at(), field.data(), field.size());
      used_ += field.size();
    } else {
      quote(field);
    }
    return end_field();
  }
  CsvWriter& whole(std::integral auto value) {
    reserve(kNumber);
    return close(std::to_chars(at(), limit(), value).ptr);
  }
  /// Writes the shortest decimal that is read back as the same number.
  CsvWriter& decimal(std::floating_point auto value) {
    reserve(kNumber);
    if (!std::isfinite(value)) return end_field();
    return close(std::to_chars(at(), limit(), value).ptr);
  }
  /// Writes a number with at most `digits` decimals, without trailing zeros.
  CsvWriter& rounded(double value, int digits) {
    reserve(kLongNumber);
    if (!std::isfinite(value)) return end_field();
    char* end = std::to_chars(at(), limit(), value, std::chars_format::fixed, digits).ptr;
    if (digits > 0) {
      while (end[-1] == '0') --end;
      if (end[-1] == '.') --end;
    }
    return close(end);
  }
  /// Writes seconds, with decimals only if needed.
  CsvWriter& duration(Duration value) {
    return value == kNoDuration ? missing() : thousandths(value.count());
  }
  CsvWriter& time(Time value) {
    return value == kNoTime ? missing() : thousandths(value.time_since_epoch().count());
  }
  CsvWriter& missing() {
    reserve(2);
    return end_field();
  }
  void end_row() {
    // A lone empty field would be a blank line, which readers skip.
    if (used_ == row_ + 1) {
      std::memcpy(buffer_.data() + row_, "\"\"\n", 3);
      used_ += 2;
    }
    buffer_[used_ - 1] = '\n';
    row_ = used_;
    if (used_ > kBuffer / 2) flush();
  }
  void header(std::span<const std::string_view> names) {
    for (const std::string_view name : names) text(name);
    end_row();
  }
  void header(std::initializer_list<std::string_view> names) {
    header(std::span(names.begin(), names.size()));
  }
  /// Passes complete rows to the file.
  void flush() {
    file_->write({buffer_.data(), row_});
    std::memmove(buffer_.data(), buffer_.data() + row_, used_ - row_);
    used_ -= row_;
    row_ = 0;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;
  static constexpr std::size_t kNumber = 32;
  static constexpr std::size_t kLongNumber = 400;  // 1e308 in full, with decimals

  char* at() { return buffer_.data() + used_; }
  char* limit() { return buffer_.data() + buffer_.size(); }
  void reserve(std::size_t size) {
    if (used_ + size + 4 > buffer_.size()) buffer_.resize(2 * (used_ + size + 4));
  }
  CsvWriter& close(const char* end) {
    used_ = static_cast<std::size_t>(end - buffer_.data());
    return end_field();
  }
  CsvWriter& end_field() {
    buffer_[used_++] = ',';
    return *this;
  }
  CsvWriter& thousandths(std::int64_t value) {
    reserve(kNumber);
    const std::int64_t part = value % 1000;
    if (part == 0) return close(std::to_chars(at(), limit(), value / 1000).ptr);
    if (value < 0) buffer_[used_++] = '-';
    char* end = std::to_chars(at(), limit(), std::abs(value / 1000)).ptr;
    auto rest = static_cast<int>(std::abs(part));
    *end++ = '.';
    for (int place = 100; rest > 0; place /= 10) {
      *end++ = static_cast<char>('0' + rest / place);
      rest %= place;
    }
    return close(end);
  }
  static bool is_plain(std::string_view field) {
    if (field.empty()) return true;
    for (const char c : field) {
      if (c == ',' || c == '"' || c == '\n' || c == '\r') return false;
    }
    return field.front() != ' ' && field.back() != ' ';
  }
  void quote(std::string_view field) {
    buffer_[used_++] = '"';
    for (const char c : field) {
      if (c == '"') buffer_[used_++] = '"';
      buffer_[used_++] = c;
    }
    buffer_[used_++] = '"';
  }

  OutputFile* file_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::size_t row_ = 0;  // where the current row starts
};

}  // namespace almanac::table
