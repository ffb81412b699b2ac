// SPDX-License-Identifier: Apache-2.0

/// \file
/// The OpenAPI document says what is served, all of it and nothing else; answers are as it says.
#include <set>

#include <gtest/gtest.h>

#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using nlohmann::json;

/// Checks a value against a schema; of JSON Schema what the document uses.
class Checker {
 public:
  explicit Checker(const json& document) : document_(document) {}

  /// What is wrong first; "" = nothing.
  std::string check(const json& value, const json& schema, const std::string& at = "$") const {
    if (schema.contains("$ref")) {
      const std::string pointer = schema.at("$ref").get<std::string>().substr(1);
      return check(value, document_.at(json::json_pointer(pointer)), at);
    }
    const std::string type = schema.value("type", "");
    if (!has_type(value, type)) return at + " is no " + type + ": " + value.dump();
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

class OpenApiTest : public testing::Test {
 protected:
  /// Asks, and checks the answer against what the document says of `path`.
  void check(const std::string& method, const std::string& path, const std::string& target,
             const std::string& body = {}) {
    SCOPED_TRACE(method + " " + target);
    const Answer answer = service_.answer(TestService::ask(method, target, body));
    std::string verb = method;
    std::transform(verb.begin(), verb.end(), verb.begin(), [](char c) { return std::tolower(c); });
    const json& said = document_.at("paths").at(path).at(verb).at("responses");
    const std::string status = std::to_string(answer.status);
    ASSERT_TRUE(said.contains(status) || answer.status >= 400) << status << " " << answer.body;
    const json& response = said.contains(status) ? said.at(status) : said.at("default");
    if (!response.contains("content")) {
      EXPECT_EQ(answer.body, "");
      return;
    }
    const std::string type = answer.type.substr(0, answer.type.find(';'));
    ASSERT_TRUE(response.at("content").contains(type)) << type;
    if (type != "application/json") return;
    EXPECT_EQ(Checker(document_).check(json::parse(answer.body),
                                       response.at("content").at(type).at("schema")),
              "");
    answered_.insert(method + " " + path + " " + status);
  }

  TestService service_;
  json document_ = json::parse(service_.answer(TestService::ask("GET", "/openapi.json")).body);
  std::set<std::string> answered_;
};

TEST_F(OpenApiTest, NamesEveryRouteAndNoOther) {
  std::set<std::string> served;
  for (const Router::Route& each : service_.api().router().routes()) {
    served.insert(each.method + " " + each.path);
  }
  std::set<std::string> said;
  for (const auto& [path, methods] : document_.at("paths").items()) {
    for (const auto& [method, about] : methods.items()) {
      std::string verb = method;
      std::transform(verb.begin(), verb.end(), verb.begin(),
                     [](char c) { return std::toupper(c); });
      said.insert(verb + " " + path);
    }
  }
  EXPECT_EQ(served, said);
}

TEST_F(OpenApiTest, SaysWhatAnswersLookLike) {
  const std::string number = std::to_string(service_.submit(
      R"(, "gpus": 1, "name": "a", "cpus": 2, "memory_gb": 4, "time_limit_s": 60,
         "deadline_s": 4000000000, "qos": "prior")"));
  service_.submit(R"(, "indices": [1, 2], "at_once": 1)");
  const std::string ended = std::to_string(service_.submit());
  check("POST", "/v1/jobs", "/v1/jobs", TestService::held());
  check("POST", "/v1/jobs", "/v1/jobs", "{}");
  check("POST", "/v1/jobs/{number}/cancel", "/v1/jobs/" + ended + "/cancel");
  check("POST", "/v1/jobs/{number}/hold", "/v1/jobs/" + number + "/hold");
  check("POST", "/v1/jobs/{number}/requeue", "/v1/jobs/999/requeue");
  check("GET", "/", "/");
  check("GET", "/metrics", "/metrics");
  check("GET", "/healthz", "/healthz");
  check("GET", "/v1/overview", "/v1/overview");
  check("GET", "/v1/jobs", "/v1/jobs?since=0");
  check("GET", "/v1/jobs", "/v1/jobs?frob=1");
  for (const std::string& each : {number, ended}) {
    check("GET", "/v1/jobs/{number}", "/v1/jobs/" + each);
    for (const char* part : {"explain", "forecast", "events", "log"}) {
      check("GET", std::string("/v1/jobs/{number}/") + part, "/v1/jobs/" + each + "/" + part);
    }
  }
  check("GET", "/v1/nodes", "/v1/nodes");
  check("PUT", "/v1/nodes/{name}", "/v1/nodes/0", R"({"drained": true})");
  check("GET", "/v1/nodes", "/v1/nodes");
  check("GET", "/v1/policies", "/v1/policies");
  check("GET", "/v1/policy", "/v1/policy");
  check("PUT", "/v1/policy", "/v1/policy", R"({"policy": "fifo"})");
  check("PUT", "/v1/policy", "/v1/policy", R"({"policy": "fofi"})");
  check("GET", "/v1/shadow", "/v1/shadow");
  check("PUT", "/v1/shadow", "/v1/shadow", R"({"policy": "sjf"})");
  check("GET", "/v1/history", "/v1/history?since=0");
  check("GET", "/v1/history", "/v1/history?format=csv");
  check("GET", "/v1/timeline", "/v1/timeline?since=0");
}

// A submission has the fields that the document says, and no other.
TEST_F(OpenApiTest, SaysWhatASubmissionIs) {
  for (const auto& [name, schema] :
       document_.at("components").at("schemas").at("Submission").at("properties").items()) {
    const std::string type = schema.at("type");
    const json value = type == "boolean"         ? json(true)
                       : type == "array"         ? json::array()
                       : schema.contains("enum") ? schema.at("enum").at(0)
                       : type == "string"        ? json("/x")
                                                 : json(1);
    json body = json::parse(TestService::held());
    if (name == "gpu_share") body["gpus"] = 1;
    if (name != "argv") body[name] = value;
    const Answer answer = service_.answer(TestService::ask("POST", "/v1/jobs", body.dump()));
    EXPECT_EQ(answer.body.find("unknown field"), std::string::npos) << answer.body;
  }
}

}  // namespace
}  // namespace almanac::serve
