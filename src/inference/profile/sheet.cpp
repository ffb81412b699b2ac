// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/sheet.h"

#include <fmt/format.h>

#include "base/check.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::inference {

Result<Sheet> Sheet::read(const std::string& path, const std::vector<std::string>& columns) {
  auto reader = table::CsvReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  Sheet sheet;
  sheet.path_ = path;
  sheet.names_ = reader->header();
  for (const std::string& column : columns) {
    if (!sheet.has(column)) {
      return fail(Code::invalid, fmt::format("has no column {}", column), {.file = path});
    }
  }
  sheet.texts_.resize(sheet.names_.size());
  while (true) {
    const auto more = reader->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return sheet;
    for (std::size_t column = 0; column < sheet.names_.size(); ++column) {
      sheet.texts_[column].emplace_back((*reader)[column]);
    }
    sheet.lines_.push_back(reader->line());
  }
}

std::size_t Sheet::find(std::string_view column) const {
  std::size_t found = 0;
  while (found < names_.size() && names_[found] != column) ++found;
  return found;
}

const std::string& Sheet::text(std::string_view column, std::size_t row) const {
  const std::size_t found = find(column);
  ALMANAC_CHECK(found < names_.size(), "{} has no column {}", path_, column);
  return texts_[found][row];
}

Result<double> Sheet::number(std::string_view column, std::size_t row) const {
  const std::string& cell = text(column, row);
  const auto value = text::parse_decimal(cell);
  if (value) return *value;
  return fail(Code::invalid, fmt::format("{}: \"{}\" is not a number", column, cell),
              {.file = path_, .line = lines_[row]});
}

Result<std::vector<double>> Sheet::numbers(std::string_view column) const {
  std::vector<double> values;
  for (std::size_t row = 0; row < rows(); ++row) {
    const auto value = number(column, row);
    if (!value) return tl::unexpected(value.error());
    values.push_back(*value);
  }
  return values;
}

}  // namespace almanac::inference
