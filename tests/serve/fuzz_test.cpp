// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests made from the OpenAPI document, as it allows and as it does not, over TCP to a running
/// service: each answer is one that the document names, what breaks the document is refused, and
/// a client that may not change anything has changed nothing.
#include <gtest/gtest.h>
#include <httplib.h>

#include "serve/document.h"
#include "serve/requests.h"
#include "serve/server.h"
#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using nlohmann::json;

/// Never reached: what is submitted is released too, and no process is to be started.
constexpr std::int64_t kFarAhead = 90'000'000'000;

class FuzzTest : public testing::Test {
 protected:
  FuzzTest() {
    Limits limits;
    limits.requests_per_s = limits.burst = 1e9;
    auto started =
        Server::start(service_.service(), {.listen = Address{}, .page = "<p>", .limits = limits});
    if (!started) throw std::runtime_error(to_string(started.error()));
    server_ = *std::move(started);
    http_ = std::make_unique<httplib::Client>("127.0.0.1", *server_->port());
    http_->set_keep_alive(true);
    http_->set_tcp_nodelay(true);
    // Of a user that jobs may run as: root is not one, by a token.
    const std::uint32_t user = ::geteuid() == 0 ? 4321 : ::geteuid();
    const Time now = wall_clock();
    token_ = server_->tokens()
                 .make({.uid = user, .scope = Scope::operate, .expires = now + 24h}, now)
                 .value()
                 .secret;
    const std::string waits = fmt::format(R"(, "not_before_s": {})", kFarAhead);
    service_.submit(waits);
    service_.submit(waits + R"(, "indices": [1, 2, 3])");
    document_ = json::parse(send({"GET", "/openapi.json"}, "").body);
    requests_ = std::make_unique<Requests>(document_,
                                           json{{"argv", {"true"}},
                                                {"directory", service_.folder() / ""},
                                                {"hold", true},
                                                {"resource_limits", {"nofile=1024"}},
                                                {"not_before_s", kFarAhead}},
                                           1 + random_seed());
  }

  /// 0, but with --gtest_shuffle, where --gtest_repeat makes it another one each time.
  static std::uint32_t random_seed() {
    return static_cast<std::uint32_t>(testing::UnitTest::GetInstance()->random_seed());
  }

  httplib::Response send(const Request& request, const std::string& token) {
    httplib::Request made;
    made.method = request.method;
    made.path = request.target;
    made.body = request.body;
    if (!made.body.empty()) made.set_header("Content-Type", "application/json");
    if (!token.empty()) made.set_header("Authorization", "Bearer " + token);
    const httplib::Result result = http_->send(made);
    if (!result) throw std::runtime_error("no answer: " + httplib::to_string(result.error()));
    return result.value();
  }
  httplib::Response send(const Request& request) { return send(request, token_); }

  void expect_said(const Operation& of, const httplib::Response& answer) const {
    EXPECT_EQ(unsaid(document_, of.said.at("responses"), answer.status,
                     answer.get_header_value("Content-Type"), answer.body),
              "")
        << answer.body;
    EXPECT_NE(answer.status, 500) << answer.body;
  }
  /// All that a request can change.
  std::string state() {
    std::string all;
    const auto jobs = service_.service().jobs({.ended_since = Time{}});
    for (const service::JobView& each : *jobs) {
      all += fmt::format("{} {} {} {}, ", static_cast<std::int64_t>(each.job.number),
                         static_cast<int>(each.job.state), each.job.held, each.job.attempts);
    }
    for (const service::NodeView& each : service_.service().nodes())
      all += each.drained ? "d" : "u";
    const service::Overview overview = service_.service().overview();
    return all + overview.policy + " " + overview.shadow;
  }
  void TearDown() override {
    EXPECT_EQ(json::parse(send({"GET", "/healthz"}).body).at("status"), "ok");
    const auto jobs = service_.service().jobs({.ended_since = Time{}});
    for (const service::JobView& each : *jobs) {
      EXPECT_EQ(each.job.attempts, 0) << "a process was started";
    }
  }

  static std::string told(const Request& request) {
    return fmt::format("{} {} {:.200}", request.method, request.target, request.body);
  }

  TestService service_;
  std::unique_ptr<Server> server_;
  std::string token_;
  std::unique_ptr<httplib::Client> http_;
  json document_;
  std::unique_ptr<Requests> requests_;
};

TEST_F(FuzzTest, AnswersAsTheDocumentSays) {
  int done = 0;
  for (int round = 0; round < 30; ++round) {
    for (const Operation& each : operations(document_)) {
      const Request request = requests_->allowed(each);
      SCOPED_TRACE(told(request));
      const httplib::Response answer = send(request);
      expect_said(each, answer);
      done += answer.status < 400 ? 1 : 0;
    }
  }
  EXPECT_GT(done, 200) << "of 720 hardly any could be done: they test little";
}

TEST_F(FuzzTest, RefusesWhatTheDocumentDoesNotAllow) {
  const std::string before = state();
  for (const Operation& each : operations(document_)) {
    for (const Request& request : requests_->broken(each)) {
      SCOPED_TRACE(told(request));
      const httplib::Response answer = send(request);
      expect_said(each, answer);
      EXPECT_GE(answer.status, 400);
      ASSERT_EQ(state(), before);
    }
  }
}

TEST_F(FuzzTest, RefusesOtherMethods) {
  const std::string before = state();
  for (const auto& [path, methods] : document_.at("paths").items()) {
    for (const char* method : {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FROB"}) {
      std::string verb = method;
      for (char& c : verb) c = static_cast<char>(std::tolower(c));
      if (methods.contains(verb)) continue;
      Request request = requests_->allowed({.method = method, .path = path});
      SCOPED_TRACE(told(request));
      const httplib::Response answer = send(request);
      EXPECT_GE(answer.status, 400);
      EXPECT_EQ(Checker(document_).check(json::parse(answer.body),
                                         document_.at("components").at("schemas").at("Error")),
                "");
      EXPECT_EQ(state(), before);
    }
  }
}

TEST_F(FuzzTest, ChangesNothingWithoutTheToken) {
  const std::string before = state();
  for (const Operation& each : operations(document_)) {
    for (int round = 0; round < 12; ++round) {
      const Request request = requests_->allowed(each);
      SCOPED_TRACE(told(request));
      std::string wrong = token_;
      wrong.back() = wrong.back() == '0' ? '1' : '0';
      for (const std::string& token : {std::string(), wrong, wrong.substr(1), wrong + wrong}) {
        const httplib::Response answer = send(request, token);
        expect_said(each, answer);
        if (each.needs_token()) {
          EXPECT_NE(answer.status / 100, 2);
          if (each.method != "GET") {
            EXPECT_EQ(answer.status, 401);
          }
        }
        ASSERT_EQ(state(), before);
      }
    }
  }
}

// By the Unix socket, where the kernel says which user asks. Every user may submit, and
// make tokens of their own.
TEST_F(FuzzTest, ChangesNothingOfOthers) {
  const std::string before = state();
  for (const Operation& each : operations(document_)) {
    if (!each.needs_token() || each.path == "/v1/jobs" || each.path == "/v1/tokens") continue;
    // Changes of many by filters are about the caller's own jobs, of which there are none.
    const bool filters =
        each.path.starts_with("/v1/jobs/") && each.path.find('{') == each.path.npos;
    for (int round = 0; round < 40; ++round) {
      const Request request = requests_->allowed(each);
      SCOPED_TRACE(told(request));
      const Answer answer = service_.answer(TestService::by_user(
          TestService::ask(request.method, request.target, request.body), ::geteuid() + 1));
      if (!filters) {
        EXPECT_GE(answer.status, 400);
      }
      ASSERT_EQ(state(), before);
    }
  }
}

}  // namespace
}  // namespace almanac::serve
