// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of real processes under load, some of them killed: every request is answered wholly,
/// or its client is told that it is not.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "process/job.h"
#include "replicas/front.h"
#include "replicas/keeper.h"

namespace almanac::replicas {
namespace {

constexpr int kTokens = 20;

std::string prompt_of(int request) { return "question number " + std::to_string(request); }

/// As model_server.cpp makes them.
std::string expected(const std::string& prompt) {
  std::string text;
  for (int at = 0; at < kTokens; ++at) {
    std::uint64_t hash = 14695981039346656037U + static_cast<std::uint64_t>(at);
    for (const char c : prompt) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    text += "w" + std::to_string(hash % 1000) + " ";
  }
  return text;
}

/// Replicas as processes of this test.
class Processes final : public Jobs {
 public:
  explicit Processes(std::vector<std::string> more = {"5"}) : more_(std::move(more)) {}

  Result<std::int64_t> start(int port, bool is_kept) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> argv = {program, std::to_string(port)};
    argv.insert(argv.end(), more_.begin(), more_.end());
    auto job = process::Job::start({.argv = argv});
    if (!job) return tl::unexpected(job.error());
    running_.emplace(++last_, std::make_unique<process::Job>(*std::move(job)));
    if (is_kept) kept_.insert(last_);
    return last_;
  }
  Result<State> state(std::int64_t job) override {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(job);
    if (found == running_.end() || found->second->ended()) return State::over;
    return State::runs;
  }
  Result<void> end(std::int64_t job) override {
    const std::lock_guard lock(mutex_);
    running_.erase(job);
    return {};
  }
  Result<std::vector<Job>> left() override { return std::vector<Job>{}; }

  /// Kills the one that was started first; false = there is none.
  bool kill_one() {
    const std::lock_guard lock(mutex_);
    for (auto& [number, job] : running_) {
      if (!job->ended()) return ::kill(job->process(), SIGKILL) == 0;
    }
    return false;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return running_.size();
  }
  std::int64_t started() const { return last_; }
  /// How many of those that are there were asked to be kept.
  std::size_t kept() {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(running_.begin(), running_.end(),
                      [&](const auto& each) { return kept_.contains(each.first); }));
  }

  std::string program = MODEL_SERVER;

 private:
  std::vector<std::string> more_;
  std::mutex mutex_;
  std::map<std::int64_t, std::unique_ptr<process::Job>> running_;
  std::set<std::int64_t> kept_;
  std::int64_t last_ = 0;
};

/// Wants what it is told.
class Told final : public inference::Scaler {
 public:
  explicit Told(const std::atomic<int>& wanted) : wanted_(wanted) {}
  int want(inference::Micros, const inference::Load&) override { return wanted_; }
  inference::Micros period() const override { return 20e3; }

 private:
  const std::atomic<int>& wanted_;
};

class ReplicaServiceTest : public testing::Test {
 protected:
  void begin(int least, int most) {
    keeper_ = std::make_unique<Keeper>(
        jobs_, pool_, std::make_unique<Told>(wanted_),
        Keeper::Settings{.least = least, .most = most, .check_every = 100ms, .step_every = 10ms});
    ASSERT_TRUE(keeper_->begin());
    auto front = Front::start(0, pool_, tally_, [] { return std::string("{}"); }, {.at_once = 64});
    ASSERT_TRUE(front) << front.error().message;
    front_ = std::move(*front);
    thread_ = std::thread([this] { keeper_->run(stop_); });
  }
  void TearDown() override {
    pool_.shut();
    front_.reset();
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    if (keeper_) keeper_->end();
  }
  /// Waits for it, for a minute at most.
  template <typename Condition>
  static bool await(const Condition& condition) {
    for (int each = 0; each < 6000; ++each) {
      if (condition()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  enum class Got { whole, told, silent };
  /// What a client of a request sees.
  Got ask(int request, bool stream) const {
    httplib::Client http("127.0.0.1", front_->port());
    http.set_read_timeout(60s);
    const nlohmann::json asked = {
        {"prompt", prompt_of(request)}, {"max_tokens", kTokens}, {"stream", stream}};
    const auto answer = http.Post("/v1/completions", asked.dump(), "application/json");
    if (!answer || answer->status != 200) return Got::told;
    std::string text;
    bool done = !stream;
    if (!stream) {
      text = nlohmann::json::parse(answer->body)["choices"][0]["text"];
    } else {
      std::istringstream lines(answer->body);
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("data: ")) continue;
        if (line == "data: [DONE]") {
          done = true;
          continue;
        }
        const auto event = nlohmann::json::parse(line.substr(6));
        if (event.contains("error")) return Got::told;
        text += event["choices"][0]["text"];
      }
    }
    return done && text == expected(prompt_of(request)) ? Got::whole : Got::silent;
  }
  /// `requests` by so many clients at once; how many saw what.
  std::map<Got, int> load(int requests, int clients) {
    std::atomic<int> next = 0;
    std::mutex mutex;
    std::map<Got, int> seen;
    std::vector<std::thread> all;
    for (int each = 0; each < clients; ++each) {
      all.emplace_back([&] {
        for (int request; (request = next++) < requests;) {
          const Got got = ask(request, request % 3 != 0);
          const std::lock_guard lock(mutex);
          ++seen[got];
        }
      });
    }
    for (std::thread& each : all) each.join();
    return seen;
  }
  std::uint64_t ended(Fate fate) const {
    return tally_.seen().fates[static_cast<std::size_t>(fate)];
  }

  Processes jobs_;
  Pool pool_{{.at_once = 4}};
  Tally tally_{{1e9, 1e9}};
  std::atomic<int> wanted_ = 1;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<Front> front_;
  std::thread thread_;
};

TEST_F(ReplicaServiceTest, AnswersEveryRequestWholly) {
  wanted_ = 2;
  begin(1, 2);
  const auto seen = load(60, 8);
  EXPECT_EQ(seen, (std::map<Got, int>{{Got::whole, 60}}));
  EXPECT_EQ(ended(Fate::answered), 60u);
  EXPECT_EQ(tally_.seen().in_hand(), 0u);
}

TEST_F(ReplicaServiceTest, LosesNoRequestSilentlyWhereReplicasAreKilled) {
  wanted_ = 3;
  begin(1, 3);
  std::atomic<bool> over = false;
  std::atomic<int> kills = 0;
  std::thread killer([&] {
    while (!over) {
      std::this_thread::sleep_for(150ms);
      if (pool_.load().ready > 1) kills += jobs_.kill_one();
    }
  });
  auto seen = load(300, 8);
  over = true;
  killer.join();
  EXPECT_EQ(seen[Got::silent], 0);
  EXPECT_EQ(seen[Got::whole] + seen[Got::told], 300);
  EXPECT_GT(kills, 2);
  EXPECT_GT(seen[Got::whole], 200);
  const Tally::Seen counted = tally_.seen();
  EXPECT_EQ(counted.accepted, 300u);
  EXPECT_EQ(counted.in_hand(), 0u);
  EXPECT_EQ(ended(Fate::answered), static_cast<std::uint64_t>(seen[Got::whole]));
}

TEST_F(ReplicaServiceTest, DrainsAReplicaThatIsToGo) {
  wanted_ = 3;
  begin(1, 3);
  ASSERT_TRUE(await([&] { return pool_.load().ready == 3; }));
  std::thread less([&] {
    std::this_thread::sleep_for(100ms);
    wanted_ = 1;
  });
  const auto seen = load(80, 12);
  less.join();
  EXPECT_EQ(seen, (std::map<Got, int>{{Got::whole, 80}}));
  EXPECT_TRUE(await([&] { return jobs_.count() == 1; }));
}

TEST_F(ReplicaServiceTest, HasTheLeastReplicasKept) {
  wanted_ = 3;
  begin(2, 3);
  ASSERT_TRUE(await([&] { return pool_.load().ready == 3; }));
  EXPECT_EQ(jobs_.kept(), 2u);
  // The one that was started first is kept; so is the one that comes in its place.
  ASSERT_TRUE(jobs_.kill_one());
  ASSERT_TRUE(await([&] { return jobs_.started() == 4 && pool_.load().ready == 3; }));
  wanted_ = 2;
  ASSERT_TRUE(await([&] { return jobs_.count() == 3 && pool_.load().ready == 2; }))
      << "the dead one is counted";
  EXPECT_EQ(jobs_.kept(), 3u) << "the dead one too";
}

TEST_F(ReplicaServiceTest, GivesAllBackWhenIdleAndComesForARequest) {
  wanted_ = 0;
  begin(0, 2);
  ASSERT_TRUE(await([&] { return jobs_.count() == 0; }));
  EXPECT_EQ(ask(1, true), Got::whole);
  EXPECT_EQ(jobs_.started(), 1);
  EXPECT_TRUE(await([&] { return jobs_.count() == 0; }));
}

TEST_F(ReplicaServiceTest, TellsClientsWhereNoReplicaEverAnswers) {
  jobs_.program = "/bin/false";
  begin(1, 1);
  ASSERT_TRUE(await([&] { return jobs_.started() >= 2; }));
  EXPECT_NE(keeper_->trouble(), "");
  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    pool_.shut();
  });
  EXPECT_EQ(ask(1, false), Got::told);
  later.join();
  EXPECT_EQ(ended(Fate::refused), 1u);
  EXPECT_LE(jobs_.started(), 4) << "each time later";
}

TEST_F(ReplicaServiceTest, SaysThatItsPortIsTaken) {
  begin(1, 1);
  const auto second = Front::start(front_->port(), pool_, tally_, [] { return std::string(); }, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::unavailable);
}

}  // namespace
}  // namespace almanac::replicas
