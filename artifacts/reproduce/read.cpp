// SPDX-License-Identifier: Apache-2.0
#include "reproduce/read.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "table/lines.h"
#include "table/stream.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

/// Does `work` and names the place in what it throws: a line, or `prefix` before the message.
void at(const Where& where, const std::string& prefix, const std::function<void()>& work) {
  try {
    work();
  } catch (Malformed& malformed) {
    if (malformed.error.where.file.empty()) {
      malformed.error.where = where;
      malformed.error.message = prefix + malformed.error.message;
    }
    throw;
  } catch (const Json::exception& wrong) {
    throw Malformed{{.code = Code::invalid, .message = prefix + said(wrong), .where = where}};
  }
}

}  // namespace

Rows::Rows(const std::string& path, std::initializer_list<std::string_view> columns)
    : csv_(value_or_throw(table::CsvReader::open(path))) {
  for (const std::string_view column : columns) {
    if (has(column)) continue;
    throw Malformed{{.code = Code::invalid,
                     .message = fmt::format("there is no column {}", column),
                     .where = {.file = path, .line = 1}}};
  }
}

bool Rows::next() { return value_or_throw(csv_.next()); }

std::string_view Rows::text(std::string_view column) const {
  const auto position = csv_.find(column);
  if (!position) wrong(fmt::format("there is no column {}", column));
  return csv_[*position];
}

double Rows::number(std::string_view column) const {
  const std::string_view cell = text(column);
  const auto value = text::parse_decimal(cell);
  if (!value) wrong(fmt::format("expected a number in column {}, found '{}'", column, cell));
  return *value;
}

double Rows::number_or_nan(std::string_view column) const {
  return text(column).empty() ? std::numeric_limits<double>::quiet_NaN() : number(column);
}

std::int64_t Rows::whole(std::string_view column) const {
  const std::string_view cell = text(column);
  const auto value = text::parse_whole(cell);
  if (!value) wrong(fmt::format("expected a whole number in column {}, found '{}'", column, cell));
  return *value;
}

void Rows::wrong(std::string message) const {
  throw Malformed{{.code = Code::invalid, .message = std::move(message), .where = csv_.where()}};
}

std::map<std::string, std::vector<double>> read_columns(
    const std::string& path, std::initializer_list<std::string_view> columns) {
  Rows rows(path, columns);
  std::map<std::string, std::vector<double>> made;
  for (const std::string_view column : columns) made[std::string(column)];
  while (rows.next()) {
    for (auto& [column, numbers] : made) numbers.push_back(rows.number(column));
  }
  return made;
}

void each_case(const File& file, const std::function<void(const Json&)>& work) {
  if (file.name.find(".jsonl") == std::string::npos) {
    const Json all = read_json(file);
    if (!all.is_array()) return at({.file = file.path}, "", [&] { work(all); });
    for (std::size_t each = 0; each < all.size(); ++each) {
      at({.file = file.path}, fmt::format("case {}: ", each + 1), [&] { work(all[each]); });
    }
    return;
  }
  table::Lines lines = value_or_throw(table::Lines::open(file.path));
  while (const char* line = value_or_throw(lines.next())) {
    if (*line == '\0') continue;
    at({.file = file.path, .line = lines.line()}, "", [&] { work(Json::parse(line)); });
  }
}

Json read_json(const File& file) {
  const std::string text = value_or_throw(table::read_text_file(file.path));
  Json made;
  at({.file = file.path}, "", [&] { made = Json::parse(text); });
  return made;
}

}  // namespace almanac::reproduce
