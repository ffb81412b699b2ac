// SPDX-License-Identifier: Apache-2.0

/// \file
/// The OpenAPI document says what is served, all of it and nothing else; answers are as it says.
#include <set>

#include <gtest/gtest.h>

#include "serve/document.h"
#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using nlohmann::json;

class OpenApiTest : public testing::Test {
 protected:
  /// Asks, and checks the answer against what the document says of `path`.
  void check(const std::string& method, const std::string& path, const std::string& target,
             const std::string& body = {}) {
    SCOPED_TRACE(method + " " + target);
    const Answer answer = service_.answer(TestService::ask(method, target, body));
    const auto all = operations(document_);
    const auto found = std::find_if(all.begin(), all.end(), [&](const Operation& each) {
      return each.method == method && each.path == path;
    });
    ASSERT_NE(found, all.end());
    EXPECT_EQ(
        unsaid(document_, found->said.at("responses"), answer.status, answer.type, answer.body),
        "");
  }

  TestService service_;
  json document_ = json::parse(service_.answer(TestService::ask("GET", "/openapi.json")).body);
};

TEST_F(OpenApiTest, NamesEveryRouteAndNoOther) {
  std::set<std::string> served;
  for (const Router::Route& each : service_.api().router().routes()) {
    served.insert(each.method + " " + each.path);
  }
  std::set<std::string> said;
  for (const Operation& each : operations(document_)) said.insert(each.method + " " + each.path);
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
  check("POST", "/v1/forecast", "/v1/forecast", TestService::held());
  check("POST", "/v1/forecast", "/v1/forecast", "{}");
  check("POST", "/v1/forecast/if", "/v1/forecast/if", R"({"if": ["add 1 node"]})");
  check("POST", "/v1/forecast/if", "/v1/forecast/if", R"({"if": "cancel 1"})");
  check("POST", "/v1/jobs/{number}/cancel", "/v1/jobs/" + ended + "/cancel");
  check("POST", "/v1/jobs/cancel", "/v1/jobs/cancel", R"({"jobs": ["999", ")" + ended + R"("]})");
  check("POST", "/v1/jobs/hold", "/v1/jobs/hold", R"({"jobs": [")" + number + R"("]})");
  check("POST", "/v1/jobs/release", "/v1/jobs/release", R"({"name": "none"})");
  check("POST", "/v1/jobs/requeue", "/v1/jobs/requeue", R"({"jobs": ["999"]})");
  check("POST", "/v1/jobs/{number}/update", "/v1/jobs/" + number + "/update", R"({"gpus": 2})");
  check("POST", "/v1/jobs/{number}/update", "/v1/jobs/" + number + "/update", "{}");
  check("POST", "/v1/jobs/{number}/hold", "/v1/jobs/" + number + "/hold");
  check("POST", "/v1/jobs/{number}/requeue", "/v1/jobs/999/requeue");
  check("GET", "/v1/jobs/{number}/starts-if", "/v1/jobs/" + number + "/starts-if");
  check("GET", "/", "/");
  check("GET", "/metrics", "/metrics");
  check("GET", "/healthz", "/healthz");
  check("GET", "/v1/overview", "/v1/overview");
  check("GET", "/v1/jobs", "/v1/jobs?since=0");
  service_.submit(R"(, "group": "search", "parameters": ["lr=0.1"], "smaller_is_better": true)");
  check("GET", "/v1/sweeps", "/v1/sweeps");
  check("GET", "/v1/sweeps/{name}", "/v1/sweeps/search");
  check("GET", "/v1/sweeps/{name}", "/v1/sweeps/none");
  check("GET", "/v1/jobs", "/v1/jobs?frob=1");
  for (const std::string& each : {number, ended}) {
    check("GET", "/v1/jobs/{number}", "/v1/jobs/" + each);
    for (const char* part : {"explain", "forecast", "events", "log"}) {
      check("GET", std::string("/v1/jobs/{number}/") + part, "/v1/jobs/" + each + "/" + part);
    }
  }
  check("GET", "/v1/tenants", "/v1/tenants");
  check("GET", "/v1/defrag", "/v1/defrag");
  check("GET", "/v1/maintenance", "/v1/maintenance");
  const std::string window = R"({"from_s": 4000000000, "to_s": 4000003600, "why": "driver"})";
  check("POST", "/v1/maintenance", "/v1/maintenance", window);
  check("POST", "/v1/maintenance", "/v1/maintenance", R"({"from_s": 4000000000})");
  check("GET", "/v1/maintenance", "/v1/maintenance");
  check("POST", "/v1/maintenance/{number}/cancel", "/v1/maintenance/1/cancel");
  check("POST", "/v1/maintenance/{number}/cancel", "/v1/maintenance/1/cancel");
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
  check("GET", "/v1/history", "/v1/history?order=end");
  check("GET", "/v1/study", "/v1/study?days=1");
  check("GET", "/v1/manager", "/v1/manager");
  check("GET", "/v1/timeline", "/v1/timeline?since=0");
}

/// Names of the properties of a schema, and of those within it, that have no description.
void find_undescribed(const json& schema, const std::string& at, std::vector<std::string>& found) {
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, each] : properties.items()) {
    const std::string path = at + "." + name;
    if (!each.contains("$ref") && each.value("description", "").empty()) found.push_back(path);
    find_undescribed(each, path, found);
    find_undescribed(each.value("items", json::object()), path, found);
  }
}

TEST_F(OpenApiTest, DescribesEveryProperty) {
  std::vector<std::string> found;
  for (const auto& [name, schema] : document_.at("components").at("schemas").items()) {
    find_undescribed(schema, name, found);
  }
  EXPECT_EQ(found, std::vector<std::string>{});
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
