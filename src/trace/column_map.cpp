// SPDX-License-Identifier: Apache-2.0
#include "trace/column_map.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "table/stream.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::trace {
namespace {

constexpr std::array<std::pair<std::string_view, Unit>, 8> kUnits{{
    {"any", Unit::any},
    {"date", Unit::date},
    {"ms", Unit::ms},
    {"s", Unit::s},
    {"min", Unit::min},
    {"h", Unit::h},
    {"d", Unit::d},
    {"clock", Unit::clock},
}};

constexpr std::array<std::pair<std::string_view, char>, 4> kDelimiters{
    {{",", ','}, {";", ';'}, {"|", '|'}, {"\t", '\t'}}};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& each : table) names.emplace_back(each.first);
  return names;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const FieldSpec& each : kFields) names.emplace_back(each.name);
  return names;
}

/// Walks one TOML file; the first mistake is kept in `error`.
class ColumnMapLoader {
 public:
  explicit ColumnMapLoader(std::string path) : path_(std::move(path)) {}

  Result<ColumnMap> load(const toml::table& root) {
    for (const auto& [key, node] : root) {
      if (key == "delimiter") {
        choose(node, kDelimiters, "delimiter", map_.delimiter);
      } else if (key == "columns" && node.is_table()) {
        for (const auto& [field, value] : *node.as_table()) read_column(field, value);
      } else if (key == "states" && node.is_table()) {
        for (const auto& [word, state] : *node.as_table()) read_state(word, state);
      } else {
        const std::vector<std::string> known{"delimiter", "columns", "states"};
        unknown(node, key.str(), known);
      }
    }
    need({"submit_s", "gap_s"});
    need({"gpus"});
    need({"run_s", "end_s"});
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(map_);
  }

 private:
  void read_column(const toml::key& key, const toml::node& node) {
    const auto field = Field::named(key.str());
    if (!field) return unknown(node, key.str(), field_names());
    Column column{.field = *field};
    column.required = column.field == "submit_s" || column.field == "gpus";
    if (const auto name = node.value_exact<std::string>()) {
      column.name = *name;
    } else if (const toml::table* const table = node.as_table()) {
      read_details(*table, column);
    } else {
      return refuse(node, fmt::format("{} must be a column name or a table", key.str()));
    }
    if ((column.scale != 1 || !column.times.empty()) && !is_amount(column)) {
      return refuse(node,
                    fmt::format("{} is not a number that scale or times can multiply", key.str()));
    }
    if (!column.name.empty()) {
      map_.columns.push_back(std::move(column));
    } else if (!map_.constants.contains(column.field)) {
      refuse(node, fmt::format("{} must have a \"column\" or a \"value\"", key.str()));
    }
  }

  void read_details(const toml::table& table, Column& column) {
    for (const auto& [key, node] : table) {
      if (key == "column" && node.is_string()) {
        column.name = node.value_or(std::string());
      } else if (key == "unit") {
        choose(node, kUnits, "unit", column.unit);
      } else if (key == "scale" && node.is_number()) {
        column.scale = node.value_or(1.0);
      } else if (key == "times" && node.is_string()) {
        column.times = {node.value_or(std::string())};
      } else if (key == "times" && node.is_array() &&
                 node.as_array()->is_homogeneous<std::string>()) {
        for (const toml::node& each : *node.as_array()) {
          column.times.push_back(each.value_or(std::string()));
        }
      } else if (key == "value" && (node.is_string() || node.is_number())) {
        map_.constants[column.field] =
            node.is_string() ? node.value_or(std::string()) : fmt::format("{}", node.value_or(0.0));
      } else {
        const std::vector<std::string> known{"column", "unit", "scale", "times", "value"};
        unknown(node, key.str(), known);
      }
    }
  }

  /// Whether the column holds a number, or a length that is written as one.
  static bool is_amount(const Column& column) {
    return std::visit(
        [&]<typename T>(const Member<T>&) {
          return std::is_arithmetic_v<T> ||
                 (std::is_same_v<T, Duration> && column.unit != Unit::clock);
        },
        column.field.spec().member);
  }

  void read_state(const toml::key& word, const toml::node& node) {
    const auto state = parse_state(node.value_or(std::string()));
    if (!state)
      return refuse(node,
                    "a state must be one of COMPLETED, FAILED, CANCELLED, TIMEOUT, "
                    "NODE_FAIL, PREEMPTED, RUNNING, PENDING");
    map_.states.emplace(word.str(), *state);
  }

  template <class Table, class Value>
  void choose(const toml::node& node, const Table& table, std::string_view what, Value& value) {
    const std::string word = node.value_or(std::string());
    for (const auto& [name, meaning] : table) {
      if (name == word) {
        value = meaning;
        return;
      }
    }
    refuse(node, fmt::format("{} must be one of {}, found \"{}\"", what,
                             fmt::join(names_of(table), " "), word));
  }

  void need(std::initializer_list<Field> any_of) {
    std::vector<std::string_view> names;
    for (const Field field : any_of) {
      if (map_.find(field) != nullptr || map_.constants.contains(field)) return;
      names.push_back(field.name());
    }
    if (!error_) {
      error_ = Error{Code::invalid,
                     fmt::format("[columns] must say which column is {}", fmt::join(names, " or ")),
                     {path_},
                     fmt::format("for example {} = \"...\"", names.front())};
    }
  }
  void unknown(const toml::node& node, std::string_view key, std::span<const std::string> known) {
    refuse(node, fmt::format("unknown key \"{}\"; known are {}", key, fmt::join(known, ", ")),
           text::did_you_mean(key, known));
  }
  void refuse(const toml::node& node, std::string message, std::string hint = {}) {
    if (error_) return;
    const auto begin = node.source().begin;
    error_ = Error{
        Code::invalid, std::move(message), {path_, begin.line, begin.column}, std::move(hint)};
  }

  std::string path_;
  ColumnMap map_;
  std::optional<Error> error_;
};

}  // namespace

const Column* ColumnMap::find(Field field) const {
  for (const Column& column : columns) {
    if (column.field == field) return &column;
  }
  return nullptr;
}

Result<ColumnMap> load_column_map(const std::string& path) {
  auto text = table::read_text_file(path);
  if (!text) return tl::unexpected(std::move(text.error()));
  try {
    const toml::table root = toml::parse(*text);
    return ColumnMapLoader(path).load(root);
  } catch (const toml::parse_error& error) {
    const auto begin = error.source().begin;
    return fail(Code::invalid, "not valid TOML: " + text::toml_problem(error),
                {path, begin.line, begin.column});
  }
}

}  // namespace almanac::trace
