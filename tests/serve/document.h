// SPDX-License-Identifier: Apache-2.0

/// \file
/// For tests: the OpenAPI document as something to hold answers, and requests, against.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace almanac::serve {

/// Checks a value against a schema; of JSON Schema what the document uses.
class Checker {
 public:
  using json = nlohmann::json;

  explicit Checker(const json& document) : document_(document) {}

  /// What is wrong first; "" = nothing.
  std::string check(const json& value, const json& schema, const std::string& at = "$") const {
    if (schema.contains("$ref") || schema.contains("allOf")) return check(value, plain(schema), at);
    const std::string type = schema.value("type", "");
    if (!has_type(value, type)) return at + " is no " + type;
    if (schema.contains("minimum") && value < schema.at("minimum")) return at + " is too small";
    if (schema.contains("maximum") && value > schema.at("maximum")) return at + " is too large";
    if (schema.contains("enum")) {
      const json& all = schema.at("enum");
      if (std::find(all.begin(), all.end(), value) == all.end()) return at + " is none of the enum";
    }
    if (type == "array") {
      for (const json& each : value) {
        if (auto wrong = check(each, schema.at("items"), at + "[]"); !wrong.empty()) return wrong;
      }
    }
    return type == "object" ? check_object(value, schema, at) : "";
  }
  /// The schema that a reference means, alone or in an allOf beside a description.
  const json& plain(const json& schema) const {
    if (schema.contains("allOf")) return plain(schema.at("allOf").at(0));
    if (!schema.contains("$ref")) return schema;
    return document_.at(json::json_pointer(schema.at("$ref").get<std::string>().substr(1)));
  }

 private:
  static bool has_type(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_boolean();
    return false;
  }
  std::string check_object(const json& value, const json& schema, const std::string& at) const {
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>())) {
        return at + " lacks " + name.get<std::string>();
      }
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, each] : value.items()) {
      if (!properties.contains(name)) {
        if (schema.value("additionalProperties", true)) continue;
        return at + " has " + name + ", which is not in the document";
      }
      if (auto wrong = check(each, properties.at(name), at + "." + name); !wrong.empty()) {
        return wrong;
      }
    }
    return "";
  }

  const json& document_;
};

/// What can be done, and how.
struct Operation {
  std::string method{};  ///< "GET".
  std::string path{};    ///< "/v1/jobs/{number}".
  nlohmann::json said = nlohmann::json::object();

  bool needs_token() const { return said.contains("security"); }
  /// Of the body that it takes; null = none.
  nlohmann::json body() const {
    return said.value(nlohmann::json::json_pointer("/requestBody/content/application~1json/schema"),
                      nlohmann::json());
  }
};

inline std::vector<Operation> operations(const nlohmann::json& document) {
  std::vector<Operation> all;
  for (const auto& [path, methods] : document.at("paths").items()) {
    for (const auto& [method, said] : methods.items()) {
      std::string verb = method;
      std::transform(verb.begin(), verb.end(), verb.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      all.push_back({verb, path, said});
    }
  }
  return all;
}

/// What of an answer the document does not say; "" = nothing. What it does not name is refused.
inline std::string unsaid(const nlohmann::json& document, const nlohmann::json& responses,
                          int status, std::string type, const std::string& body) {
  const std::string number = std::to_string(status);
  if (!responses.contains(number) && status < 400) return "no answer is " + number;
  const nlohmann::json& response =
      responses.at(responses.contains(number) ? number : std::string("default"));
  if (!response.contains("content")) return body.empty() ? "" : "there is a body";
  type = type.substr(0, type.find(';'));
  if (!response.at("content").contains(type)) return "no answer is of type " + type;
  if (type != "application/json") return "";
  const auto read = nlohmann::json::parse(body, nullptr, false);
  if (read.is_discarded()) return "the body is not JSON";
  return Checker(document).check(read, response.at("content").at(type).at("schema"));
}

}  // namespace almanac::serve
