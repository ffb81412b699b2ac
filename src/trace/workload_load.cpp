// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "table/stream.h"
#include "text/nearest.h"
#include "text/toml_reader.h"
#include "trace/workload_fields.h"
#include "trace/workload_file.h"

namespace almanac::trace {
namespace {

Where place(const toml::source_region& source, const std::string& name) {
  return {name, source.begin.line, source.begin.column};
}

/// Takes fields out of one table, then objects to those that it does not know.
class TomlTableReader {
 public:
  TomlTableReader(const toml::table& table, std::string title, const std::string& name)
      : table_(table), title_(std::move(title)), name_(name) {}

  void field(const char* key, double& value, Range range) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_number()) return complain(*node, key, "a number");
    const double number = text::toml_number(*node);
    if (in_range(*node, key, number, range)) value = number;
  }
  void field(const char* key, std::int64_t& value, Range range) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_integer()) return complain(*node, key, "a whole number");
    const std::int64_t number = node->as_integer()->get();
    if (in_range(*node, key, static_cast<double>(number), range)) value = number;
  }
  void field(const char* key, std::string& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_string()) return complain(*node, key, "a string");
    value = node->as_string()->get();
  }
  void field(const char* key, bool& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_boolean()) return complain(*node, key, "true or false");
    value = node->as_boolean()->get();
  }
  void field(const char* key, Time& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_date_time()) return complain(*node, key, "a date and time");
    const toml::date_time at = node->as_date_time()->get();
    const std::chrono::sys_days day = std::chrono::year{at.date.year} /
                                      std::chrono::month{at.date.month} /
                                      std::chrono::day{at.date.day};
    value = Time(day.time_since_epoch() + std::chrono::hours(at.time.hour) +
                 std::chrono::minutes(at.time.minute) + std::chrono::seconds(at.time.second) -
                 std::chrono::minutes(at.offset ? at.offset->minutes : 0));
  }
  void field(const char* key, std::vector<double>& values, Range range) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_array()) return complain(*node, key, "a list of numbers");
    std::vector<double> numbers;
    for (const toml::node& element : *node->as_array()) {
      if (!element.is_number()) return complain(element, key, "a list of numbers");
      numbers.push_back(text::toml_number(element));
      if (!in_range(element, key, numbers.back(), range)) return;
    }
    values = std::move(numbers);
  }

  /// The node of `key`, which is thereby known; null when the table does not have it.
  const toml::node* find(const char* key) {
    known_.emplace_back(key);
    return table_.get(key);
  }
  void complain(const toml::node& node, const char* key, const char* wanted) {
    object(node.source(), fmt::format("{} must be {}", key, wanted));
  }
  /// The first thing wrong with this table.
  std::optional<Error> finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      object(key.source(), fmt::format("unknown key \"{}\" {}", key.str(), title_),
             text::did_you_mean(key.str(), known_));
      break;
    }
    return error_;
  }

 private:
  bool in_range(const toml::node& node, const char* key, double number, Range range) {
    if (number >= range.low && number <= range.high) return true;
    object(node.source(),
           range.high == kEndless
               ? fmt::format("{} must be at least {}, found {}", key, range.low, number)
               : fmt::format("{} must be between {} and {}, found {}", key, range.low, range.high,
                             number));
    return false;
  }
  void object(const toml::source_region& at, std::string message, std::string hint = {}) {
    if (!error_)
      error_ = Error{Code::invalid, std::move(message), place(at, name_), std::move(hint)};
  }

  const toml::table& table_;
  std::string title_;
  const std::string& name_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

/// Visits the fields of a workload and fills them from a document.
class WorkloadLoader {
 public:
  WorkloadLoader(const toml::table& document, const std::string& name)
      : name_(name), top_(document, "at the top of the file", name) {}

  template <typename Row, typename Fields>
  void rows(const char* key, const char*, std::vector<Row>& rows, Fields fields) {
    const toml::node* const node = top_.find(key);
    if (node == nullptr) return;
    rows.clear();
    if (node->is_array() && node->as_array()->empty()) return;
    if (!node->is_array_of_tables()) return top_.complain(*node, key, "a list of tables");
    for (const toml::node& element : *node->as_array()) {
      TomlTableReader reader(*element.as_table(), fmt::format("of {}", key), name_);
      fields(reader, rows.emplace_back());
      keep(reader.finish());
    }
  }
  void section(const char* key, const char*) {
    close_section();
    const toml::node* const node = top_.find(key);
    if (node == nullptr) return;
    if (!node->is_table()) return top_.complain(*node, key, "a table");
    section_.emplace(*node->as_table(), fmt::format("in [{}]", key), name_);
  }
  template <typename Value>
  void field(const char* key, Value& value, Range range, const char*) {
    if (section_) section_->field(key, value, range);
  }
  template <typename Value>
  void field(const char* key, Value& value, const char*) {
    if (section_) section_->field(key, value);
  }
  std::optional<Error> finish() {
    close_section();
    keep(top_.finish());
    return error_;
  }

 private:
  void close_section() {
    if (section_) keep(section_->finish());
    section_.reset();
  }
  void keep(std::optional<Error> error) {
    if (!error_) error_ = std::move(error);
  }

  const std::string& name_;
  TomlTableReader top_;
  std::optional<TomlTableReader> section_;
  std::optional<Error> error_;
};

}  // namespace

Result<Workload> parse_workload(std::string_view text, const std::string& name) {
  toml::table document;
  try {
    document = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return fail(Code::invalid, text::toml_problem(error), place(error.source(), name));
  }
  Workload workload;
  WorkloadLoader loader(document, name);
  visit_fields(workload, loader);
  if (std::optional<Error> error = loader.finish()) return tl::unexpected(*std::move(error));
  if (Result<void> fine = check(workload); !fine) {
    return fail(fine.error().code, fine.error().message, {name});
  }
  return workload;
}

Result<Workload> load_workload(const std::string& path) {
  const Result<std::string> text = table::read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_workload(*text, path);
}

}  // namespace almanac::trace
