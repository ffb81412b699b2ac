// SPDX-License-Identifier: Apache-2.0
#include "trace/column_map.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "table/stream.h"
#include "text/nearest.h"

namespace almanac::trace {
namespace {

constexpr std::array<std::pair<Field, std::string_view>, 53> kFields{{
    {Field::job_id, "job_id"},
    {Field::name, "name"},
    {Field::user, "user"},
    {Field::vc, "vc"},
    {Field::kind, "kind"},
    {Field::gpu_type, "gpu_type"},
    {Field::model, "model"},
    {Field::qos, "qos"},
    {Field::alternatives, "alternatives"},
    {Field::group, "group"},
    {Field::data_set, "data_set"},
    {Field::gpu_profile, "gpu_profile"},
    {Field::metric, "metric"},
    {Field::after, "after"},
    {Field::node_list, "node_list"},
    {Field::gpus, "gpus"},
    {Field::nodes, "nodes"},
    {Field::shards, "shards"},
    {Field::mps, "mps"},
    {Field::attempts, "attempts"},
    {Field::max_gpus, "max_gpus"},
    {Field::min_gpus, "min_gpus"},
    {Field::batch, "batch"},
    {Field::steps, "steps"},
    {Field::value, "value"},
    {Field::restart_s, "restart_s"},
    {Field::checkpoint_s, "checkpoint_s"},
    {Field::gpu_share, "gpu_share"},
    {Field::gpu_memory_gb, "gpu_memory_gb"},
    {Field::cpus, "cpus"},
    {Field::memory_gb, "memory_gb"},
    {Field::reference_cpus, "reference_cpus"},
    {Field::reference_memory_gb, "reference_memory_gb"},
    {Field::reference_profile, "reference_profile"},
    {Field::data_gb, "data_gb"},
    {Field::bandwidth_gbs, "bandwidth_gbs"},
    {Field::step_s, "step_s"},
    {Field::network_s, "network_s"},
    {Field::network_gbps, "network_gbps"},
    {Field::read_gbs, "read_gbs"},
    {Field::submit_s, "submit_s"},
    {Field::eligible_s, "eligible_s"},
    {Field::gap_s, "gap_s"},
    {Field::start_s, "start_s"},
    {Field::end_s, "end_s"},
    {Field::deadline_s, "deadline_s"},
    {Field::worthless_at_s, "worthless_at_s"},
    {Field::run_s, "run_s"},
    {Field::span_s, "span_s"},
    {Field::wait_s, "wait_s"},
    {Field::time_limit_s, "time_limit_s"},
    {Field::predicted_s, "predicted_s"},
    {Field::state, "state"},
}};

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
  for (const auto& [a, b] : table) {
    if constexpr (std::is_convertible_v<decltype(a), std::string_view>) {
      names.emplace_back(a);
    } else {
      names.emplace_back(b);
    }
  }
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
    need({Field::submit_s, Field::gap_s});
    need({Field::gpus});
    need({Field::run_s, Field::end_s});
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(map_);
  }

 private:
  void read_column(const toml::key& key, const toml::node& node) {
    const auto found = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const auto& field) { return field.second == key.str(); });
    if (found == kFields.end()) return unknown(node, key.str(), names_of(kFields));
    Column column{.field = found->first};
    column.required = column.field == Field::submit_s || column.field == Field::gpus;
    if (const auto name = node.value_exact<std::string>()) {
      column.name = *name;
    } else if (const toml::table* const table = node.as_table()) {
      read_details(*table, column);
    } else {
      return refuse(node, fmt::format("{} must be a column name or a table", key.str()));
    }
    if ((column.scale != 1 || !column.times.empty()) && !is_amount(column)) {
      return refuse(node,
                    fmt::format("{} is no number that scale or times can multiply", key.str()));
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
    switch (column.field) {
      case Field::gpus:
      case Field::nodes:
      case Field::attempts:
      case Field::max_gpus:
      case Field::min_gpus:
      case Field::batch:
      case Field::steps:
      case Field::value:
      case Field::restart_s:
      case Field::checkpoint_s:
      case Field::gpu_share:
      case Field::gpu_memory_gb:
      case Field::cpus:
      case Field::memory_gb:
      case Field::reference_cpus:
      case Field::reference_memory_gb:
      case Field::data_gb:
      case Field::bandwidth_gbs:
      case Field::step_s:
      case Field::network_s:
      case Field::network_gbps:
      case Field::read_gbs:
        return true;
      case Field::gap_s:
      case Field::run_s:
      case Field::span_s:
      case Field::wait_s:
      case Field::time_limit_s:
      case Field::predicted_s:
        return column.unit != Unit::clock;
      default:
        return false;
    }
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
    refuse(node, fmt::format("{} must be one of {}: \"{}\"", what, fmt::join(names_of(table), " "),
                             word));
  }

  void need(std::initializer_list<Field> any_of) {
    std::vector<std::string_view> names;
    for (const Field field : any_of) {
      if (map_.find(field) != nullptr || map_.constants.contains(field)) return;
      names.push_back(to_string(field));
    }
    if (!error_) {
      error_ = Error{Code::invalid,
                     fmt::format("[columns] must say where {} is", fmt::join(names, " or ")),
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

std::string_view to_string(Field field) {
  for (const auto& [known, name] : kFields) {
    if (known == field) return name;
  }
  return "";
}

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
    return fail(Code::invalid, fmt::format("not valid TOML: {}", error.description()),
                {path, begin.line, begin.column});
  }
}

}  // namespace almanac::trace
