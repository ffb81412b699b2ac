// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fields of a config.json: which were read, and which matter and were not.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace almanac::inference {

/// A field that is missing, wrong or not understood.
class BadField : public std::runtime_error {
 public:
  explicit BadField(const std::string& what) : std::runtime_error(what) {}
};

/// Throws BadField; what it says begins with the field's name.
class Fields {
 public:
  /// `config` must outlive this. Fields that `inner` (text_config) lacks are those of `outer`.
  Fields(const nlohmann::json& inner, const nlohmann::json& outer) : inner_(inner), outer_(outer) {}

  /// The value, or null where the field is missing or null. Counts as read.
  const nlohmann::json* find(const std::string& name);
  /// A whole number of at least 1, by the first of these names that is there.
  int count(const std::vector<std::string>& names);
  /// The same, or `otherwise` where none is there; 0 is allowed.
  int count_or(const std::vector<std::string>& names, int otherwise);
  bool flag_or(const std::string& name, bool otherwise);
  std::string text_or(const std::string& name, const std::string& otherwise);

  /// Throws for the first field that was not read and whose name says that it changes weights, KV
  /// cache or arithmetic, unless it is null, false, 0 or empty.
  void refuse_rest() const;

 private:
  const nlohmann::json& inner_;
  const nlohmann::json& outer_;
  std::set<std::string> read_;
};

}  // namespace almanac::inference
