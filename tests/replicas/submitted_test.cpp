// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that is submitted to a real `almanac serve`, under load, while its replicas are
/// killed: no request is lost silently, and what was killed comes back.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "process/job.h"
#include "support/run_program.h"

namespace almanac {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int kTokens = 30, kClients = 12, kRequests = 1500;

class SubmittedService : public testing::Test {
 protected:
  void SetUp() override { begin("fifo", "4"); }
  void begin(const std::string& policy, const std::string& gpus) {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    auto started =
        process::Job::start({.argv = {program == nullptr ? "almanac" : program, "serve", "--state",
                                      state_, "--gpus", gpus, "--policy", policy}});
    ASSERT_TRUE(started);
    serve_ = std::make_unique<process::Job>(*std::move(started));
    ASSERT_TRUE(soon([&] { return run({"queue"}).status == 0; }));
  }
  /// Its jobs outlive the service, so they are cancelled first.
  void TearDown() override {
    for (const std::string& job : jobs_that_run()) run({"cancel", job});
    soon([&] { return jobs_that_run().empty(); });
  }

  ProgramRun run(std::vector<std::string> words) const {
    words.insert(std::find(words.begin(), words.end(), "--"),
                 {"--socket", state_ + "/almanac.sock"});
    return run_program(words);
  }
  static bool soon(const std::function<bool()>& holds) {
    for (int each = 0; each < 1200; ++each) {
      if (holds()) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }
  std::vector<std::string> jobs_that_run() const {
    std::vector<std::string> made;
    const json all = json::parse(run({"queue", "-o", "json"}).out, nullptr, false);
    if (!all.is_object()) return made;
    for (const json& each : all.value("jobs", json::array())) made.push_back(each.at("job_id"));
    return made;
  }
  json status() const {
    httplib::Client http("127.0.0.1", port_);
    const auto answer = http.Get("/almanac/status");
    return answer ? json::parse(answer->body, nullptr, false) : json();
  }
  /// How many replicas take requests.
  int ready() const {
    int count = 0;
    const json told = status();
    if (!told.is_object()) return 0;
    for (const json& each : told.at("replicas")) count += each.at("state") == "open";
    return count;
  }
  /// Kills the process that listens on the service's port, once it does no more.
  bool kill_router() const {
    for (const auto& each : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(each.path() / "cmdline");
      std::string words{std::istreambuf_iterator<char>(file), {}};
      std::replace(words.begin(), words.end(), '\0', ' ');
      if (words.find(" service ") == std::string::npos ||
          words.find(" --port " + std::to_string(port_)) == std::string::npos ||
          words.find(state_) == std::string::npos) {
        continue;
      }
      return ::kill(std::stoi(each.path().filename()), SIGKILL) == 0 &&
             soon([&] { return status().is_null(); });
    }
    return false;
  }
  std::vector<int> pids() const {
    std::ifstream file(pids_);
    return {std::istream_iterator<int>(file), {}};
  }

  TemporaryFolder folder_;
  std::string state_ = folder_ / "state";
  std::string pids_ = folder_ / "pids";
  int port_ = 18'951;
  std::unique_ptr<process::Job> serve_;
};

TEST_F(SubmittedService, LosesNoRequestSilentlyWhileItsReplicasAreKilled) {
  const ProgramRun submitted = run({"submit", "--service", "--name", "chat", "--replicas", "3",
                                    "--port", std::to_string(port_), "--gpus", "1", "--cpus", "0.2",
                                    "--directory", folder_ / "", "--parsable", "--", "sh", "-c",
                                    "echo $$ >> " + pids_ + "; exec " + MODEL_SERVER + " $PORT 2"});
  ASSERT_EQ(submitted.status, 0) << submitted.err;
  ASSERT_TRUE(soon([&] { return ready() == 3; })) << status().dump();

  const std::vector<std::string> jobs = jobs_that_run();
  std::atomic<int> next = 0, whole = 0, told = 0, silent = 0;
  std::vector<std::thread> clients;
  for (int each = 0; each < kClients; ++each) {
    clients.emplace_back([&] {
      httplib::Client http("127.0.0.1", port_);
      http.set_read_timeout(60s);
      for (int request; (request = next++) < kRequests;) {
        const json asked{{"prompt", "question " + std::to_string(request)},
                         {"max_tokens", kTokens},
                         {"stream", true}};
        const auto answer = http.Post("/v1/completions", asked.dump(), "application/json");
        if (!answer || answer->status != 200 ||
            answer->body.find("data: {\"error\"") != std::string::npos) {
          ++told;
          continue;
        }
        int tokens = 0;
        for (std::size_t at = 0; (at = answer->body.find("\"text\"", at)) != std::string::npos;
             ++at) {
          ++tokens;
        }
        const bool is_done = answer->body.find("data: [DONE]") != std::string::npos;
        ++(is_done && tokens == kTokens ? whole : silent);
      }
    });
  }
  std::size_t killed = 0;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(soon([&] { return next > (round + 1) * kRequests / 6; }));
    const auto all = pids();
    if (killed < all.size() && ::kill(all[killed], SIGKILL) == 0) ++killed;
  }
  for (std::thread& each : clients) each.join();

  EXPECT_EQ(killed, 3U);
  EXPECT_EQ(whole + told, kRequests);
  EXPECT_EQ(silent, 0);
  EXPECT_GT(whole, kRequests * 9 / 10);
  const json seen = status();
  EXPECT_EQ(seen.at("accepted").get<int>(),
            seen.at("answered").get<int>() + seen.at("refused").get<int>() +
                seen.at("broken").get<int>() + seen.at("client_left").get<int>());
  EXPECT_EQ(seen.at("answered"), whole.load());
  // What was killed is begun anew in place: its job, and so its GPUs, stay.
  EXPECT_TRUE(soon([&] { return ready() == 3; })) << status().dump();
  EXPECT_GE(pids().size(), 6U);
  EXPECT_EQ(jobs_that_run(), jobs);
  const std::string router = submitted.out.substr(0, submitted.out.find('\n'));
  ASSERT_EQ(run({"cancel", router}).status, 0);
  EXPECT_TRUE(soon([&] { return jobs_that_run().empty(); }));
}

TEST_F(SubmittedService, AnswersWhatItHasInHandWhenItIsCancelled) {
  const ProgramRun submitted =
      run({"submit", "--service", "--name", "chat", "--replicas", "1", "--port",
           std::to_string(port_), "--gpus", "1", "--cpus", "0.2", "--directory", folder_ / "",
           "--parsable", "--", MODEL_SERVER, "{port}", "100"});
  ASSERT_EQ(submitted.status, 0) << submitted.err;
  ASSERT_TRUE(soon([&] { return ready() == 1; })) << status().dump();
  // Three seconds of tokens, of which the first has come when the service is cancelled.
  std::atomic<bool> has_begun = false;
  std::string body;
  std::thread client([&] {
    httplib::Client http("127.0.0.1", port_);
    http.set_read_timeout(60s);
    httplib::Request asked;
    asked.method = "POST";
    asked.path = "/v1/completions";
    asked.body = json{{"prompt", "a"}, {"max_tokens", kTokens}, {"stream", true}}.dump();
    asked.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
      body.append(data, size);
      has_begun = true;
      return true;
    };
    http.send(asked);
  });
  EXPECT_TRUE(soon([&] { return has_begun.load(); }));
  const std::string router = submitted.out.substr(0, submitted.out.find('\n'));
  EXPECT_EQ(run({"cancel", router}).status, 0);
  client.join();
  EXPECT_NE(body.find("data: [DONE]"), std::string::npos) << body;
  EXPECT_TRUE(soon([&] { return jobs_that_run().empty(); }));
}

TEST_F(SubmittedService, RefusesReplicasThatCanNeverRun) {
  const auto submit = [&](const std::string& option) {
    return run({"submit", "--service", "--name", "chat", option, "--gpus", "1", "--directory",
                folder_ / "", "--", MODEL_SERVER, "{port}"});
  };
  for (const char* const each :
       {"--grace=20", "--time=abc", "--mem=1X", "--cpus=0.0001", "--cpus=100000"}) {
    const ProgramRun refused = submit(each);
    EXPECT_NE(refused.status, 0) << each << refused.out;
    EXPECT_NE(refused.err, "") << each;
  }
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&place), &size), 0);
  const ProgramRun refused = submit("--port=" + std::to_string(ntohs(place.sin_port)));
  ::close(taken);
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find("is in use"), std::string::npos) << refused.err;
  EXPECT_EQ(jobs_that_run(), std::vector<std::string>());
}

TEST_F(SubmittedService, BeginsARouterAgainThatWasKilledAndKeepsItsReplicas) {
  const ProgramRun submitted = run({"submit", "--service", "--name", "chat", "--replicas", "2",
                                    "--port", std::to_string(port_), "--gpus", "1", "--cpus", "0.2",
                                    "--directory", folder_ / "", "--parsable", "--", "sh", "-c",
                                    "echo $$ >> " + pids_ + "; exec " + MODEL_SERVER + " $PORT 2"});
  ASSERT_EQ(submitted.status, 0) << submitted.err;
  ASSERT_TRUE(soon([&] { return ready() == 2; })) << status().dump();
  const std::vector<std::string> jobs = jobs_that_run();
  const std::string router = submitted.out.substr(0, submitted.out.find('\n'));
  const json before = json::parse(run({"show", router, "-o", "json"}).out, nullptr, false);
  ASSERT_TRUE(kill_router()) << before.dump();
  EXPECT_TRUE(soon([&] { return ready() == 2; })) << status().dump();
  EXPECT_EQ(pids().size(), 2U) << "its replicas went on";
  EXPECT_EQ(jobs_that_run(), jobs);
}

/// The policy stops what has had five seconds of GPU time for what has not.
class ServiceUnderAPolicyThatStops : public SubmittedService {
 protected:
  void SetUp() override { begin("las+las:5", "2"); }
  json job(const std::string& number) const {
    return json::parse(run({"show", number, "-o", "json"}).out, nullptr, false);
  }
};

TEST_F(ServiceUnderAPolicyThatStops, KeepsTheLeastReplicas) {
  const ProgramRun submitted =
      run({"submit",     "--service",  "--name", "chat",       "--replicas",
           "1..2",       "--scaler",   "steady", "--port",     std::to_string(port_),
           "--gpus",     "1",          "--cpus", "0.2",        "--directory",
           folder_ / "", "--parsable", "--",     MODEL_SERVER, "{port}",
           "2"});
  ASSERT_EQ(submitted.status, 0) << submitted.err;
  EXPECT_NE(submitted.err.find("may preempt replicas for other jobs, except the minimum of "
                               "--replicas (1)"),
            std::string::npos)
      << submitted.err;
  ASSERT_TRUE(soon([&] { return ready() == 2; })) << status().dump();
  const json before = status().at("replicas");
  ASSERT_EQ(before.size(), 2U);
  std::vector<std::string> jobs;
  for (int each = 0; each < 3; ++each) {
    const ProgramRun one = run({"submit", "--gpus", "1", "--cpus", "0.1", "--time", "0:00:30",
                                "--directory", folder_ / "", "--parsable", "--", "true"});
    ASSERT_EQ(one.status, 0) << one.err;
    jobs.push_back(one.out.substr(0, one.out.find('\n')));
  }
  EXPECT_TRUE(soon([&] {
    return std::all_of(jobs.begin(), jobs.end(), [&](const std::string& each) {
      const json told = job(each);
      return told.is_object() && told.value("state", "") == "COMPLETED";
    });
  })) << job(jobs.back()).dump();
  const json first = job(std::to_string(before[0].at("job").get<int>()));
  const json second = job(std::to_string(before[1].at("job").get<int>()));
  EXPECT_EQ(first.value("preemptions", -1), 0) << first.dump();
  EXPECT_GE(second.value("preemptions", -1), 1) << second.dump();
  EXPECT_EQ(job(submitted.out.substr(0, submitted.out.find('\n'))).value("preemptions", -1), 0);
}

}  // namespace
}  // namespace almanac
