// SPDX-License-Identifier: Apache-2.0

/// \file
/// For tests: a service on a folder of its own, its API, and requests to it.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/wall_clock.h"
#include "cluster/cluster.h"
#include "machine/local_service.h"
#include "serve/api.h"
#include "support/temporary_folder.h"

namespace almanac::serve {

/// One node of four GPUs that no job has; nothing but what is held back is submitted, so no
/// process is started.
class TestService {
 public:
  explicit TestService(int futures = 0) {
    machine::Config config;
    config.state = folder_ / "";
    config.machine.cluster = cluster::uniform(1, 4);
    config.machine.gpu_names = {{"0", "1", "2", "3"}};
    config.futures = futures;
    auto opened = machine::open_local_service(std::move(config));
    if (!opened) throw std::runtime_error(to_string(opened.error()));
    service_ = *std::move(opened);
    api_ = std::make_unique<Api>(*service_, tokens_, Guard(tokens_, ::geteuid()),
                                 "<script>1</script>");
    thread_ = std::thread([this] { service_->run(stops_); });
  }
  ~TestService() {
    stops_ = true;
    service_->wake();
    thread_.join();
  }
  TestService(const TestService&) = delete;
  TestService& operator=(const TestService&) = delete;

  /// Returns the value of a header; null if `answer` lacks it.
  static const std::string* header(const Answer& answer, const std::string& name) {
    for (const auto& [each, value] : answer.headers) {
      if (each == name) return &value;
    }
    return nullptr;
  }
  static Ask ask(std::string method, const std::string& target, std::string body = {}) {
    Ask made{.method = std::move(method),
             .path = target.substr(0, target.find('?')),
             .body = std::move(body),
             .peer = {.is_local = true, .uid = ::geteuid(), .gid = ::getegid()}};
    if (!made.body.empty()) made.headers["content-type"] = "application/json";
    std::size_t at = target.find('?');
    while (at != std::string::npos) {
      const std::size_t next = target.find('&', at + 1);
      const std::string pair = target.substr(at + 1, next - at - 1);
      made.query.emplace(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      at = next;
    }
    return made;
  }
  /// As a user of this machine who comes by TCP.
  static Ask by_tcp(Ask ask) {
    ask.peer = {.is_here = true};
    ask.headers["host"] = "127.0.0.1:8080";
    return ask;
  }
  static Ask by_user(Ask ask, std::uint32_t uid) {
    ask.peer.uid = uid;
    return ask;
  }

  /// The same with a token of that user, which may do so much.
  Ask by_token(Ask ask, Scope scope, std::uint32_t uid = ::geteuid()) {
    const Time now = wall_clock();
    const auto made = tokens_.make({.uid = uid, .scope = scope, .expires = now + 1h}, now);
    ask = by_tcp(std::move(ask));
    ask.headers["authorization"] = "Bearer " + made.value().secret;
    return ask;
  }

  Answer answer(const Ask& ask) const { return api_->answer(ask); }
  nlohmann::json get(const std::string& target) const {
    return nlohmann::json::parse(answer(ask("GET", target)).body);
  }
  /// A job that waits until it is released.
  std::int64_t submit(const std::string& more = {}) const {
    const Answer made = answer(ask("POST", "/v1/jobs", held(more)));
    if (made.status != 201) throw std::runtime_error(made.body);
    return nlohmann::json::parse(made.body).at("numbers").at(0).get<std::int64_t>();
  }
  static std::string held(const std::string& more = {}) {
    return R"({"argv": ["true"], "directory": "/", "hold": true)" + more + "}";
  }

  service::Service& service() { return *service_; }
  const Api& api() const { return *api_; }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  Tokens tokens_ = Tokens::open(folder_ / "tokens").value();
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<Api> api_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace almanac::serve
