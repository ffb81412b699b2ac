// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fields of a config.json, and which of them were read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace almanac::inference {

/// What to do about a config.json that is not understood.
inline constexpr auto kGiveConfig =
    "give the config.json of a decoder, or the name of a known model";

/// Parses the text of a config.json, in which the numbers NaN and Infinity of Python become null.
/// Fails with invalid, naming the line, if it is not a JSON object.
Result<nlohmann::json> parse_object(std::string_view text, const std::string& file);

/// A field that is missing, wrong or unsupported.
class BadField : public std::runtime_error {
 public:
  explicit BadField(const std::string& what) : std::runtime_error(what) {}
};

/// Reads fields. Throws BadField, whose message begins with the field's name.
class Fields {
 public:
  /// Looks up fields in `inner` (text_config), then in `outer`. Both must outlive this object.
  Fields(const nlohmann::json& inner, const nlohmann::json& outer) : inner_(inner), outer_(outer) {}

  /// Returns the value, or null if the field is missing or null. Marks the field as read.
  const nlohmann::json* find(const std::string& name);
  /// Returns the first of these fields that exists, a whole number of at least 1.
  int count(const std::vector<std::string>& names);
  /// Same, but `otherwise` if none exists; 0 is allowed.
  int count_or(const std::vector<std::string>& names, int otherwise);
  bool flag_or(const std::string& name, bool otherwise);
  /// Returns the fields of the object under `name`, a required field. refuse_rest() does not check
  /// them: see refuse_unknown().
  Fields inside(const std::string& name);
  std::string text_or(const std::string& name, const std::string& otherwise);

  /// Throws for the first unread field that is an object or whose name says that it changes
  /// weights, KV cache or arithmetic, unless it is null, false, 0, empty or known to be harmless.
  void refuse_rest() const;

 private:
  const nlohmann::json& inner_;
  const nlohmann::json& outer_;
  std::set<std::string> read_;
};

/// Throws for weights without quantization that do not take 2 bytes once an engine loads them.
void check_number_type(Fields& fields);

/// Throws for the first field of `object`, whose name is `within`, that is not one of `known`,
/// unless it is null, false, 0 or empty.
void refuse_unknown(const nlohmann::json& object, std::string_view within,
                    std::initializer_list<std::string_view> known);

}  // namespace almanac::inference
