// SPDX-License-Identifier: Apache-2.0
#include "cli/columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "table/csv_writer.h"
#include "table/output_file.h"

namespace almanac::cli {
namespace {

/// Letters, not bytes: of UTF-8 each first byte counts.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::vector<std::string> column_lines(const std::vector<Column>& columns,
                                      const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t widest = columns[i].name.size();
    for (const auto& row : rows) widest = std::max(widest, width(row[i]));
    widths.push_back(widest);
  }
  std::vector<std::string> lines;
  const auto add = [&](const auto& text_of) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& text = text_of(i);
      const std::string space(widths[i] - width(text), ' ');
      if (i > 0) line += "  ";
      line += columns[i].is_number ? space + text : text + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
  };
  add([&](std::size_t i) -> const std::string& { return columns[i].name; });
  for (const auto& row : rows) {
    add([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return lines;
}

void print_columns(const std::vector<Column>& columns,
                   const std::vector<std::vector<std::string>>& rows) {
  for (const std::string& line : column_lines(columns, rows)) fmt::print("{}\n", line);
}

std::string number_cell(double value, int digits, std::string_view missing) {
  return std::isnan(value) ? std::string(missing) : fmt::format("{:.{}g}", value, digits);
}

void print_csv(const std::vector<std::string>& header,
               const std::vector<std::vector<std::string>>& rows) {
  table::OutputFile out = table::OutputFile::standard_output();
  table::CsvWriter csv(out);
  for (const std::string& name : header) csv.text(name);
  csv.end_row();
  for (const auto& row : rows) {
    for (const std::string& field : row) csv.text(field);
    csv.end_row();
  }
  csv.flush();
  static_cast<void>(out.commit());
}

}  // namespace almanac::cli
