// SPDX-License-Identifier: Apache-2.0

/// \file
/// A JSON object with its place, so that errors name the field: "ClusterQueue a: spec.preemption".
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kueue/setup.h"

namespace almanac::kueue {

using Json = nlohmann::json;

/// A value that Kubernetes or Kueue would refuse. Readers catch it and return its message.
struct Refused {
  std::string message;
};

/// A JSON object with its place, for messages: "ClusterQueue a: spec.preemption".
class Object {
 public:
  Object(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {
    if (!json.is_object() && !json.is_null()) wrong("expected an object");
  }

  bool has(const char* key) const { return find(key) != nullptr; }
  /// Empty if absent.
  Object object(const char* key) const {
    static const Json nothing = nullptr;
    const Json* const found = find(key);
    return {found != nullptr ? *found : nothing, place_of(key)};
  }
  std::vector<Object> objects(const char* key) const {
    std::vector<Object> made;
    const Json* const found = find(key);
    if (found == nullptr) return made;
    if (!found->is_array()) wrong_at(key, "expected a list");
    for (std::size_t at = 0; at < found->size(); ++at) {
      made.emplace_back((*found)[at], fmt::format("{}[{}]", place_of(key), at));
    }
    return made;
  }
  std::string text(const char* key, const std::string& otherwise = "") const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_string()) wrong_at(key, fmt::format("expected text, found {}", found->dump()));
    return *found;
  }
  /// One of the words.
  template <typename T>
  T word(const char* key, T otherwise,
         std::initializer_list<std::pair<std::string_view, T>> words) const {
    const std::string found = text(key);
    if (found.empty()) return otherwise;
    std::string known;
    for (const auto& [word, value] : words) {
      if (word == found) return value;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
    }
    wrong_at(key, fmt::format("expected one of {}, found '{}'", known, found));
  }
  bool flag(const char* key, bool otherwise = false) const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_boolean()) wrong_at(key, "expected true or false");
    return found->get<bool>();
  }
  /// A list of texts.
  std::vector<std::string> words(const char* key) const {
    std::vector<std::string> made;
    const Json* const found = find(key);
    if (found == nullptr) return made;
    if (!found->is_array()) wrong_at(key, "expected a list");
    for (const Json& each : *found) {
      if (!each.is_string()) wrong_at(key, "expected a list of texts");
      made.push_back(each);
    }
    return made;
  }
  std::map<std::string, std::string> texts(const char* key) const {
    std::map<std::string, std::string> made;
    const Object of = object(key);
    if (of.json_->is_null()) return made;
    for (const auto& [name, value] : of.json_->items()) {
      if (!value.is_string()) of.wrong_at(name, "expected text");
      made.emplace(name, value);
    }
    return made;
  }
  /// A quantity is text or a number.
  Amount quantity(const char* key, std::string_view resource) const {
    const Json* const found = find(key);
    if (found == nullptr) wrong(fmt::format("{} is missing", key));
    const auto read =
        read_quantity(found->is_string() ? found->get<std::string>() : found->dump(), resource);
    if (!read) wrong_at(key, read.error().message);
    return *read;
  }
  std::optional<Amount> optional_quantity(const char* key, std::string_view resource) const {
    if (!has(key)) return std::nullopt;
    return quantity(key, resource);
  }
  /// The amounts of this object's fields, by resource.
  std::map<std::string, Amount> quantities() const {
    std::map<std::string, Amount> made;
    if (json_->is_null()) return made;
    for (const auto& [name, value] : json_->items()) made[name] = quantity(name.c_str(), name);
    return made;
  }
  std::optional<std::int64_t> whole(const char* key) const {
    const Json* const found = find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number_integer()) wrong_at(key, "expected a whole number");
    return found->get<std::int64_t>();
  }
  /// Fields that are not among `known` and have a value.
  std::vector<std::string> others(std::initializer_list<std::string_view> known) const {
    std::vector<std::string> made;
    if (json_->is_null()) return made;
    for (const auto& [name, value] : json_->items()) {
      const bool is_empty = value.is_null() || (value.is_structured() && value.empty());
      if (!is_empty && std::find(known.begin(), known.end(), name) == known.end()) {
        made.push_back(name);
      }
    }
    return made;
  }
  [[noreturn]] void wrong(const std::string& message) const {
    throw Refused{fmt::format("{}: {}", place_, message)};
  }
  [[noreturn]] void wrong_at(std::string_view key, const std::string& message) const {
    throw Refused{fmt::format("{}: {}", place_of(key), message)};
  }

 private:
  const Json* find(std::string_view key) const {
    if (json_->is_null()) return nullptr;
    const auto found = json_->find(key);
    return found == json_->end() || found->is_null() ? nullptr : &*found;
  }
  std::string place_of(std::string_view key) const { return fmt::format("{}.{}", place_, key); }

  const Json* json_;
  std::string place_;
};

/// Reads `tolerations` of a flavor or of pods.
inline std::vector<Toleration> tolerations_of(const Object& spec) {
  std::vector<Toleration> made;
  for (const Object& each : spec.objects("tolerations")) {
    made.push_back({.key = each.text("key"),
                    .exists = each.word("operator", false, {{"Equal", false}, {"Exists", true}}),
                    .value = each.text("value"),
                    .effect = each.text("effect")});
  }
  return made;
}

}  // namespace almanac::kueue
