// SPDX-License-Identifier: Apache-2.0
#include "figure/figure.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::figure {
namespace {

Column& add(std::deque<Column>& columns, std::string name, std::string label, Unit unit,
            Type type) {
  Column column;
  column.name = std::move(name);
  column.label = std::move(label);
  column.unit = unit;
  column.type = type;
  return columns.emplace_back(std::move(column));
}

}  // namespace

std::string to_string(Unit unit) {
  switch (unit) {
    case Unit::none:
      return "";
    case Unit::seconds:
      return "s";
    case Unit::fraction:
      return "fraction";
    case Unit::percent:
      return "percent";
    case Unit::points:
      return "points";
    case Unit::jobs:
      return "jobs";
    case Unit::gpus:
      return "gpus";
    case Unit::gpu_seconds:
      return "gpu_s";
    case Unit::cpu_seconds:
      return "cpu_s";
    case Unit::users:
      return "users";
    case Unit::nodes:
      return "nodes";
    case Unit::ratio:
      return "x";
  }
  return "";
}

Column& Figure::number(std::string name, std::string label, Unit unit) {
  return add(columns, std::move(name), std::move(label), unit, Type::number);
}

Column& Figure::text(std::string name, std::string label) {
  return add(columns, std::move(name), std::move(label), Unit::none, Type::text);
}

Column& Figure::time(std::string name, std::string label) {
  return add(columns, std::move(name), std::move(label), Unit::none, Type::time);
}

const Column& Figure::operator[](std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  ALMANAC_CHECK(found != columns.end(), "figure {} has no column {}", id, name);
  return *found;
}

}  // namespace almanac::figure
