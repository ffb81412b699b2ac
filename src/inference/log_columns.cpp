// SPDX-License-Identifier: Apache-2.0

#include "inference/log_columns.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "table/stream.h"
#include "text/toml_reader.h"

namespace almanac::inference {
namespace {

/// Microseconds of a unit; 0 = dates with times.
constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{
    {{"date", 0}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 6e7}, {"h", 3.6e9}, {"d", 8.64e10}}};
constexpr std::array<std::pair<std::string_view, char>, 4> kDelimiters{
    {{",", ','}, {";", ';'}, {"|", '|'}, {"\t", '\t'}}};

class LogColumnsReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  LogColumns read(const toml::table& file) {
    allow(file, {"columns", "delimiter", "block_tokens"});
    LogColumns made;
    made.needs_all_named = true;
    made.block = {.tokens = 0, .only_heads = true};
    if (const toml::node* const node = file.get("delimiter")) {
      made.delimiter = choice(*node, kDelimiters, "delimiter");
    }
    if (const toml::node* const node = file.get("block_tokens")) {
      constexpr std::int64_t kMost = 1 << 20;
      const auto tokens = node->value_exact<std::int64_t>();
      if (!tokens || *tokens < 1 || *tokens > kMost) {
        refuse(*node, fmt::format("block_tokens must be a whole number from 1 to {}", kMost));
      }
      made.block = {static_cast<std::int32_t>(*tokens), true, true};
    }
    const toml::table* const columns = table(file, "columns");
    if (columns == nullptr) refuse(file, "[columns] is missing", kExample);
    allow(*columns, {"arrival_s", "gap_s", "prompt_tokens", "output_tokens", "block_ids", "model",
                     "tenant", "adapter"});
    made.is_gap = columns->contains("gap_s");
    if (made.is_gap == columns->contains("arrival_s")) {
      refuse(*columns, "[columns] must have one of arrival_s and gap_s", kExample);
    }
    read_arrival(*columns->get(made.is_gap ? "gap_s" : "arrival_s"), made);
    made.prompt = name(*columns, "prompt_tokens", true);
    made.output = name(*columns, "output_tokens", true);
    made.blocks = name(*columns, "block_ids", false);
    made.model = name(*columns, "model", false);
    made.tenant = name(*columns, "tenant", false);
    made.adapter = name(*columns, "adapter", false);
    return made;
  }

 private:
  static constexpr const char* kExample =
      "for example arrival_s = {column = \"timestamp\", unit = \"ms\"}";

  /// "timestamp", or {column = "timestamp", unit = "ms"}.
  void read_arrival(const toml::node& node, LogColumns& made) const {
    const char* const key = made.is_gap ? "gap_s" : "arrival_s";
    if (node.is_string()) {
      made.arrival = node.value_or(std::string());
      return;
    }
    if (!node.is_table()) refuse(node, fmt::format("{} must be a column name or a table", key));
    const toml::table& told = *node.as_table();
    allow(told, {"column", "unit"});
    made.arrival = name(told, "column", true);
    const toml::node* const unit = told.get("unit");
    if (unit == nullptr) return;
    made.micros = choice(*unit, kUnits, "unit");
    if (made.is_gap && made.micros == 0) refuse(*unit, "a gap cannot be a date");
  }

  std::string name(const toml::table& from, const char* key, bool is_needed) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr && !is_needed) return {};
    if (node == nullptr) refuse(from, fmt::format("{} is missing", key), kExample);
    const auto text = node->value_exact<std::string>();
    if (!text || text->empty()) refuse(*node, fmt::format("{} must be the name of a column", key));
    return *text;
  }

  template <class Value, std::size_t kChoices>
  Value choice(const toml::node& node,
               const std::array<std::pair<std::string_view, Value>, kChoices>& choices,
               const char* what) const {
    const std::string word = node.value_or(std::string());
    std::vector<std::string_view> names;
    for (const auto& [text, value] : choices) {
      if (text == word) return value;
      names.push_back(text == "\t" ? "\\t" : text);
    }
    refuse(node,
           fmt::format("{} must be one of {}, found \"{}\"", what, fmt::join(names, " "), word));
  }
};

}  // namespace

Result<LogColumns> load_log_columns(const std::string& path) {
  const auto content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  return text::read_toml_text(
      *content, path, [&](const toml::table& file) { return LogColumnsReader(path).read(file); });
}

}  // namespace almanac::inference
