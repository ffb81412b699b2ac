// SPDX-License-Identifier: Apache-2.0

#include "deployment/cell_table.h"

#include <utility>

#include <fmt/format.h>

#include "text/number.h"

namespace almanac::deployment {

Result<CellTable> CellTable::open(const std::string& path, const std::vector<std::string>& needed) {
  auto reader = table::CsvReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  for (const std::string& column : needed) {
    if (!reader->find(column)) {
      return fail(Code::invalid, fmt::format("has no column {}", column), {.file = path});
    }
  }
  return CellTable(std::move(*reader));
}

std::string_view CellTable::text(const std::string& column) const {
  const auto found = reader_.find(column);
  return found ? reader_[*found] : std::string_view();
}

Result<double> CellTable::number(const std::string& column, double least, double most,
                                 double otherwise) const {
  const std::string_view cell = text(column);
  if (cell.empty() && !std::isnan(otherwise)) return otherwise;
  const auto value = text::parse_decimal(cell);
  if (value && *value >= least && *value <= most) return *value;
  return fail(
      Code::invalid,
      fmt::format("{}: expected a number from {} to {}, found \"{}\"", column, least, most, cell),
      reader_.where());
}

Result<int> CellTable::whole_number(const std::string& column, int least, int most) const {
  const auto value = number(column, least, most);
  if (value && *value == std::floor(*value)) return static_cast<int>(*value);
  return wrong(fmt::format("{}: expected a whole number from {} to {}, found \"{}\"", column, least,
                           most, text(column)));
}

tl::unexpected<Error> CellTable::wrong(std::string message) const {
  return fail(Code::invalid, std::move(message), reader_.where());
}

}  // namespace almanac::deployment
