// SPDX-License-Identifier: Apache-2.0

/// \file
/// The common part of all readers of TOML files: it refuses unknown keys, names the line and the
/// probably intended key, and returns either the whole content or an error.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/result.h"
#include "text/nearest.h"

namespace almanac::text {

inline Where toml_place(const std::string& path, const toml::source_region& at) {
  return {.file = path,
          .line = static_cast<std::int64_t>(at.begin.line),
          .column = static_cast<std::int64_t>(at.begin.column)};
}

/// Returns the nearest double of a number; NaN of another value. node.value<double>() has nothing
/// for integers above 2^53.
inline double toml_number(const toml::node& node) {
  if (node.is_integer()) return static_cast<double>(node.as_integer()->get());
  if (node.is_floating_point()) return node.as_floating_point()->get();
  return std::numeric_limits<double>::quiet_NaN();
}

/// Thrown by a TomlReader; read_toml_text() converts it to a Result.
struct TomlRefused {
  Error error;
};

/// The base class of readers.
class TomlReader {
 public:
  /// `path` is the file's name in errors.
  explicit TomlReader(std::string path) : path_(std::move(path)) {}

 protected:
  const std::string& path() const { return path_; }

  [[noreturn]] void refuse(const toml::source_region& at, std::string message,
                           std::string hint = {}) const {
    throw TomlRefused{{Code::invalid, std::move(message), toml_place(path_, at), std::move(hint)}};
  }
  [[noreturn]] void refuse(const toml::node& at, std::string message, std::string hint = {}) const {
    refuse(at.source(), std::move(message), std::move(hint));
  }

  /// Refuses a key that is not among `known`.
  void allow(const toml::table& from, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : from) {
      const std::string word(key.str());
      if (std::find(known.begin(), known.end(), word) != known.end()) continue;
      refuse(key.source(), fmt::format("unknown key {}", word), meant_or_known(word, known));
    }
  }

  /// Returns the table under `key`; null if there is none. Refuses another kind of value.
  const toml::table* table(const toml::table& from, const char* key) const {
    const toml::node* const node = from.get(key);
    if (node != nullptr && !node->is_table()) {
      refuse(*node, fmt::format("{} must be a table, written [{}]", key, key));
    }
    return node == nullptr ? nullptr : node->as_table();
  }

  /// Returns the tables of a list, in order; none if there is no such key.
  std::vector<const toml::table*> tables(const toml::table& from, const char* key) const {
    std::vector<const toml::table*> found;
    const toml::node* const node = from.get(key);
    if (node == nullptr) return found;
    if (!node->is_array_of_tables()) {
      refuse(*node, fmt::format("{} must be a list of tables, written [[{}]]", key, key));
    }
    for (const toml::node& element : *node->as_array()) found.push_back(element.as_table());
    return found;
  }

 private:
  std::string path_;
};

/// Returns what is wrong in a TOML file, in words for its author instead of the parser's.
inline std::string toml_problem(const toml::parse_error& error) {
  const std::string_view said = error.description();
  return said.find("could not determine value type") == std::string_view::npos
             ? std::string(said)
             : "a value must be a number, true, false, a date, a list or a text in quotes, as in "
               "name = \"text\"";
}

/// Returns the result of `read`, or fails with invalid and the place of the first error.
template <typename Read>
auto read_toml_text(std::string_view text, const std::string& path, Read&& read)
    -> Result<decltype(read(toml::table{}))> {
  try {
    return read(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return fail(Code::invalid, toml_problem(error), toml_place(path, error.source()));
  } catch (const TomlRefused& refused) {
    return tl::unexpected(refused.error);
  }
}

}  // namespace almanac::text
