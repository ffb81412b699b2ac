// SPDX-License-Identifier: Apache-2.0

/// \file
/// For tests: requests made from the OpenAPI document, such as it allows and such as it does not.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/document.h"

namespace almanac::serve {

struct Request {
  std::string method{};
  std::string target{};  ///< With its query, coded.
  std::string body{};
};

/// The same arguments make the same requests.
class Requests {
 public:
  using json = nlohmann::json;

  /// `pinned` is put into every body that has such fields, and is not played with.
  Requests(const json& document, json pinned, std::uint32_t seed)
      : checker_(document), pinned_(std::move(pinned)), random_(seed) {}

  /// That the document allows; whether the service can do it is another matter.
  Request allowed(const Operation& of) {
    std::string query;
    for (const json& each : in_query(of)) {
      if (below(3) == 0) query += parameter(each, text_of(made(each.at("schema"))));
    }
    const json schema = of.body();
    return {of.method, target(of, query), schema.is_null() ? "" : made(schema).dump()};
  }

  /// All that break the document in one place.
  std::vector<Request> broken(const Operation& of) {
    std::vector<Request> all;
    for (const json& each : in_query(of)) {
      if (each.at("schema").at("type") == "string") continue;  // any text is one
      for (const char* text : {"", "x", "1x", "nan", "-", "1e999", "99999999999999999999"}) {
        all.push_back({of.method, target(of, parameter(each, text)), ""});
      }
    }
    const json reference = of.body();
    if (reference.is_null()) return all;
    const json& schema = checker_.plain(reference);
    const auto add = [&](std::string body) {
      all.push_back({of.method, target(of, ""), std::move(body)});
    };
    for (const auto& [name, each] : schema.at("properties").items()) {
      for (const std::string& value : wrong(each)) {
        json body = least(schema);
        body.erase(name);
        const std::string rest = body.dump().substr(1);
        add(fmt::format("{{{}:{}{}{}", json(name).dump(), value, rest == "}" ? "" : ",", rest));
      }
    }
    for (const json& name : schema.value("required", json::array())) {
      json body = least(schema);
      body.erase(name.get<std::string>());
      add(body.dump());
    }
    json more = least(schema);
    more["frob"] = 1;
    add(more.dump());
    const std::string whole = least(schema).dump();
    for (std::size_t size = 0; size < whole.size(); size += 5) add(whole.substr(0, size));
    for (const std::string& value : wrong(schema)) add(value);
    return all;
  }

  std::size_t below(std::size_t count) { return random_() % count; }

 private:
  template <typename List>
  auto any(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  static std::vector<json> in_query(const Operation& of) {
    std::vector<json> all;
    for (const json& each : of.said.value("parameters", json::array())) {
      if (each.at("in") == "query") all.push_back(each);
    }
    return all;
  }
  static std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  static std::string parameter(const json& about, const std::string& value) {
    std::string coded;
    for (const unsigned char c : value) coded += fmt::format("%{:02X}", c);
    return fmt::format("&{}={}", about.at("name").get<std::string>(), coded);
  }
  std::string target(const Operation& of, const std::string& query) {
    std::string path = of.path;
    if (const std::size_t open = path.find('{'); open != std::string::npos) {
      constexpr const char* kParts[] = {
          "1",     "2",    "2_1", "2_3", "0",        "-1",
          "1_",    "1_x",  "x",   "%00", "%C3%A4",   "%FF",
          "1%2F2", "9999", "1e3", "..",  "%25s%25n", "9999999999999999999999"};
      path.replace(open, path.find('}') - open + 1, any(kParts));
    }
    return query.empty() ? path : path + "?" + query.substr(1);
  }

  /// A value that fits.
  json made(const json& reference) {
    const json& schema = checker_.plain(reference);
    if (schema.contains("enum")) return any(schema.at("enum"));
    const std::string type = schema.at("type");
    if (type == "boolean") return below(2) == 0;
    if (type == "array") {
      json list = json::array();
      for (std::size_t left = below(4); left > 0; --left) list.push_back(made(schema.at("items")));
      return list;
    }
    if (type == "object") {
      json object = least(schema);
      for (const auto& [name, each] : schema.at("properties").items()) {
        if (below(4) == 0 && !pinned_.contains(name)) object[name] = made(each);
      }
      return object;
    }
    const std::vector<json> all = values();
    for (;;) {
      json value = any(all);
      if (checker_.check(value, schema).empty()) return value;
    }
  }
  /// What is required, and what is pinned.
  json least(const json& reference) {
    const json& schema = checker_.plain(reference);
    json object = json::object();
    for (const json& name : schema.value("required", json::array())) {
      object[name.get<std::string>()] = made(schema.at("properties").at(name.get<std::string>()));
    }
    for (const auto& [name, value] : pinned_.items()) {
      if (schema.at("properties").contains(name)) object[name] = value;
    }
    return object;
  }
  static std::vector<json> values() {
    return {0,
            1,
            2,
            -1,
            2'147'483'648,
            std::uint64_t{1} << 63U,
            INT64_MIN,
            0.5,
            1e9,
            1e300,
            -1e300,
            "",
            "x",
            "/",
            "csv",
            "1",
            "fifo",
            "A=b",
            "../..",
            "%s%n%j",
            "\xC3\xA4\n",
            "PENDING",
            "out",
            std::string(300, 'a'),
            std::string("a\0b", 3)};
  }
  /// Values, as text, that do not fit.
  std::vector<std::string> wrong(const json& schema) const {
    std::vector<json> all = values();
    all.insert(all.end(), {nullptr, true, json::array(), json::object(), {{"x", 1}}, {"x", 1}});
    all.push_back(json::array({json::array(), json::object(), nullptr}));
    std::vector<std::string> texts;
    for (const json& each : all) {
      if (!checker_.check(each, schema).empty()) texts.push_back(each.dump());
    }
    // Fit nowhere.
    constexpr int kDeep = 200'000;
    for (const char* each :
         {"1e999", "-1e999", "NaN", "tru", "\"\\ud800\"", "\"\xFF\"", "\"", ""}) {
      texts.emplace_back(each);
    }
    texts.push_back(std::string(kDeep, '[') + std::string(kDeep, ']'));
    return texts;
  }

  Checker checker_;
  json pinned_;
  std::mt19937 random_;
};

}  // namespace almanac::serve
