// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/output_file.h"
#include "text/datetime.h"
#include "trace/workload_fields.h"
#include "trace/workload_file.h"

namespace almanac::trace {
namespace {

constexpr std::size_t kCommentColumn = 40;

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string spelled(double value) {
  // Six digits say enough of a weight, but counts stay whole.
  if (value == std::round(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}
std::string spelled(std::int64_t value) { return std::to_string(value); }
std::string spelled(bool value) { return value ? "true" : "false"; }
std::string spelled(const std::string& value) { return toml_string(value); }
std::string spelled(Time value) {
  std::string text = text::format_datetime(value);
  std::replace(text.begin(), text.end(), ' ', 'T');
  return text.ends_with('Z') ? text : text + 'Z';
}
std::string spelled(const std::vector<double>& values) {
  std::vector<std::string> words;
  for (const double value : values) words.push_back(spelled(value));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

/// Writes one row as an inline table, so that rows read like those of a table.
class RowWriter {
 public:
  template <typename Value>
  void field(const char* key, const Value& value, Range = kWeight) {
    text_ += fmt::format("{}{} = {}", text_.empty() ? "" : ", ", key, spelled(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Saver {
 public:
  template <typename Row, typename Fields>
  void rows(const char* key, const char* text, std::vector<Row>& rows, Fields fields) {
    comment(text);
    if (rows.empty()) {
      out_ += fmt::format("{} = []\n", key);
      return;
    }
    out_ += fmt::format("{} = [\n", key);
    for (Row& row : rows) {
      RowWriter writer;
      fields(writer, row);
      out_ += fmt::format("  {{{}}},\n", writer.text());
    }
    out_ += "]\n";
  }
  void section(const char* key, const char* text) {
    comment(text);
    out_ += fmt::format("[{}]\n", key);
  }
  template <typename Value>
  void field(const char* key, Value& value, Range, const char* text) {
    field(key, value, text);
  }
  template <typename Value>
  void field(const char* key, Value& value, const char* text) {
    const std::string line = fmt::format("{} = {}", key, spelled(value));
    if (*text == '\0') {
      out_ += line + '\n';
    } else if (line.size() < kCommentColumn) {
      out_ += fmt::format("{:<{}}# {}\n", line, kCommentColumn, text);
    } else {
      out_ += fmt::format("# {}\n{}\n", text, line);
    }
  }
  std::string text() && { return std::move(out_); }

 private:
  void comment(const char* text) {
    out_ += '\n';
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out_ += "# " + line + '\n';
  }

  std::string out_ =
      "# The parameters of a generated job log, for `almanac trace generate --workload "
      "THIS_FILE`.\n# Weights need not sum to anything: only their ratios count.\n";
};

}  // namespace

std::string to_toml(const Workload& workload) {
  Workload copy = workload;  // visiting needs a mutable one
  Saver saver;
  visit_fields(copy, saver);
  return std::move(saver).text();
}

std::string to_cluster_toml(const Workload& workload) {
  const Workload::Node& node = workload.node;
  std::string text = "# The cluster of a generated job log.\n[node]\n";
  text += fmt::format("gpus = {}\n", node.gpus);
  if (!node.gpu_type.empty()) text += fmt::format("gpu_type = {}\n", toml_string(node.gpu_type));
  for (const auto& [key, amount] : {std::pair{"cpus", node.cpus},
                                    {"memory_gb", node.memory_gb},
                                    {"bandwidth_gbs", node.bandwidth_gbs}}) {
    if (amount > 0) text += fmt::format("{} = {}\n", key, spelled(amount));
  }
  for (const Workload::Vc& vc : workload.vc) {
    text += fmt::format("\n[[vc]]\nname = {}\nnodes = {}\n", toml_string(vc.name), vc.nodes);
  }
  return text;
}

Result<void> save_workload(const Workload& workload, const std::string& path) {
  return table::write_file(path, to_toml(workload));
}

}  // namespace almanac::trace
