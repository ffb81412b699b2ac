// SPDX-License-Identifier: Apache-2.0

/// \file
/// Holds the test's API server to what a real kube-apiserver answered to 50 requests.
#include "api_server.h"

#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "support/shared_data.h"

namespace almanac::kube {
namespace {

/// What differs from run to run stands for a word in the recording, always the same one.
class Words {
 public:
  /// Empty = they are the same.
  std::string difference(const Json& recorded, const Json& answered, const std::string& at = "") {
    if (recorded.is_string()) return of_text(recorded.get<std::string>(), answered, at);
    if (recorded.is_object() && answered.is_object()) {
      for (const auto& [key, value] : recorded.items()) {
        if (kSkipped.contains(key) || (key == "message" && value == "")) continue;
        if (!answered.contains(key)) return fmt::format("{}.{} is missing", at, key);
        const std::string found = difference(value, answered[key], at + "." + key);
        if (!found.empty()) return found;
      }
      for (const auto& [key, value] : answered.items()) {
        if (!recorded.contains(key) && value != "") return fmt::format("{}.{} is new", at, key);
      }
      return "";
    }
    if (recorded.is_array() && answered.is_array()) return of_list(recorded, answered, at);
    return recorded == answered
               ? ""
               : fmt::format("{}: {} instead of {}", at, answered.dump(), recorded.dump());
  }
  /// The request with our words for the recorded ones.
  std::string filled_in(std::string text) const {
    for (const auto& [word, value] : known_) {
      for (std::size_t found; (found = text.find(word)) != std::string::npos;) {
        text.replace(found, word.size(), value);
      }
    }
    return text;
  }

 private:
  /// Fields that only a real server fills in.
  const std::set<std::string> kSkipped{"managedFields", "storageVersionHash", "daemonEndpoints",
                                       "nodeInfo",      "gitCommit",          "buildDate",
                                       "goVersion"};

  std::string of_text(const std::string& recorded, const Json& answered, const std::string& at) {
    const auto wrong = [&] {
      return fmt::format("{}: {} instead of \"{}\"", at, answered.dump(), recorded);
    };
    if (!answered.is_string()) return wrong();
    const std::string text = answered;
    if (recorded == "<time>") return text.empty() ? wrong() : "";
    if (recorded.starts_with("<") && recorded.ends_with(">")) {
      if (recorded == "<token>") return known_[recorded] = text, "";
      return known_.try_emplace(recorded, text).first->second == text ? "" : wrong();
    }
    return text == recorded ? "" : wrong();
  }

  /// The order of the resources of a group is not promised.
  std::string of_list(const Json& recorded, const Json& answered, const std::string& at) {
    if (recorded.size() != answered.size()) {
      return fmt::format("{}: {} items instead of {}", at, answered.size(), recorded.size());
    }
    for (std::size_t item = 0; item < recorded.size(); ++item) {
      std::size_t with = item;
      for (std::size_t other = 0; at == ".resources" && other < answered.size(); ++other) {
        if (answered[other]["name"] == recorded[item]["name"]) with = other;
      }
      const std::string found =
          difference(recorded[item], answered[with], fmt::format("{}[{}]", at, item));
      if (!found.empty()) return found;
    }
    return "";
  }

  std::map<std::string, std::string> known_;
};

class Player {
 public:
  Player() {
    server_.second = std::chrono::milliseconds(150);
    server_.versions.clear();
    server_.set_tokens({{"admin", "admin"}, {"almanac", "almanac"}, {"nobody", "nobody"}});
    server_.set_rights(
        [](const std::string& user, const std::string& verb, const std::string& resource) {
          if (user != "almanac") return false;
          if (resource == "leases") return verb == "get" || verb == "create" || verb == "update";
          if (resource == "workloads" && verb == "patch") return true;
          return resource.find('/') == std::string::npos &&
                 (verb == "get" || verb == "list" || verb == "watch");
        });
  }

  void play(const Json& entry) {
    const std::string about = entry["about"];
    if (about == "version") server_.versions = {"v1beta2"};
    if (entry.contains("lines")) return watch(entry);
    httplib::Client http("127.0.0.1", server_.port());
    httplib::Request request;
    request.method = entry["method"];
    request.path = words_.filled_in(entry["path"]);
    request.headers = {{"Authorization", "Bearer " + entry["user"].get<std::string>()}};
    if (entry.contains("body")) {
      const Json& body = entry["body"];
      request.body = words_.filled_in(body.is_string() ? body.get<std::string>() : body.dump());
      request.headers.emplace("Content-Type", entry["type"].get<std::string>());
    }
    const auto said = http.send(request);
    ASSERT_TRUE(said) << about;
    EXPECT_EQ(said->status, entry["status"]) << about << said->body;
    EXPECT_EQ(said->get_header_value("Content-Type"), entry["answer_type"]) << about;
    const Json& recorded = entry["answer"];
    if (recorded.is_string()) {
      EXPECT_EQ(said->body, recorded.get<std::string>()) << about;
    } else {
      EXPECT_EQ(words_.difference(recorded, Json::parse(said->body)), "") << about;
    }
  }

 private:
  void watch(const Json& entry) {
    const std::string about = entry["about"];
    httplib::Client http("127.0.0.1", server_.port());
    std::thread later;
    if (about.find("then what comes") != std::string::npos) {
      later = std::thread([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const std::string all = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
        server_.create(all, w3_);
        server_.remove(all + "/w3");
      });
      w3_ = w3_of(entry);
    }
    std::string body;
    int status = 0;
    const auto said = http.Get(
        words_.filled_in(entry["path"]),
        {{"Authorization", "Bearer " + entry["user"].get<std::string>()}},
        [&](const httplib::Response& response) { return status = response.status, true; },
        [&](const char* bytes, std::size_t size) { return body.append(bytes, size), true; });
    if (later.joinable()) later.join();
    ASSERT_TRUE(said) << about;
    std::vector<Json> answered;
    if (status != 200) {
      answered.push_back({{"type", "HTTP"}, {"status", status}, {"object", Json::parse(body)}});
    } else {
      std::istringstream lines(body);
      for (std::string line; std::getline(lines, line);) answered.push_back(Json::parse(line));
      answered.push_back({{"type", "END"}});
    }
    // Bookmarks come as they like.
    std::vector<Json> recorded;
    for (const Json& line : entry["lines"]) {
      if (line["type"] != "BOOKMARK") recorded.push_back(line);
    }
    ASSERT_EQ(answered.size(), recorded.size()) << about;
    for (std::size_t at = 0; at < recorded.size(); ++at) {
      EXPECT_EQ(words_.difference(recorded[at], answered[at]), "") << about << " line " << at;
    }
  }

  /// The workload that was made and deleted during the watch, as it was asked for.
  static Json w3_of(const Json& entry) {
    for (const Json& line : entry["lines"]) {
      if (line["type"] != "ADDED") continue;
      Json made = line["object"];
      made["metadata"] = {{"name", "w3"}, {"labels", made["metadata"]["labels"]}};
      made["spec"].erase("active");
      return made;
    }
    return {};
  }

  ApiServer server_;
  Words words_;
  Json w3_;
};

TEST(ApiServer, AnswersAsARealOne) {
  const auto path = shared_path("golden/kueue/api_recorded.json");
  if (!path) GTEST_SKIP() << "golden/kueue is not available";
  const Json recorded = Json::parse(std::ifstream(*path));
  ASSERT_EQ(recorded["entries"].size(), 50);
  Player player;
  for (const Json& entry : recorded["entries"]) player.play(entry);
}

}  // namespace
}  // namespace almanac::kube
