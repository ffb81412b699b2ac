// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of real processes under load, some of them killed: every request is answered wholly,
/// or its client is told that it is not.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "process/job.h"
#include "replicas/front.h"
#include "replicas/keeper.h"
#include "replicas/status.h"

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
  explicit ReplicaServiceTest(std::vector<std::string> told = {"5"}) : jobs_(std::move(told)) {}
  void begin(int least, int most, const Front::Limits& limits = {.at_once = 64}) {
    keeper_ = std::make_unique<Keeper>(
        jobs_, pool_, std::make_unique<Told>(wanted_),
        Keeper::Settings{.least = least, .most = most, .check_every = 100ms, .step_every = 10ms});
    ASSERT_TRUE(keeper_->begin());
    auto front = Front::start(
        0, pool_, tally_, [] { return std::string("{}"); }, limits);
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

/// A server that is healthy 400 ms after its start.
class SlowlyStartingServiceTest : public ReplicaServiceTest {
 protected:
  SlowlyStartingServiceTest() : ReplicaServiceTest({"5", "10", "400"}) {}
};

TEST_F(SlowlyStartingServiceTest, MeasuresColdStartsFromZeroReplicas) {
  wanted_ = 0;
  begin(0, 1);
  EXPECT_TRUE(keeper_->seen().empty());
  std::thread client([&] {
    EXPECT_EQ(ask(1, true), Got::whole) << "the first request starts a replica and waits for it";
  });
  EXPECT_TRUE(await([&] { return jobs_.count() == 1; }));
  wanted_ = 1;
  client.join();
  const auto seen = keeper_->seen();
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_TRUE(seen.front().cold_start_s);
  EXPECT_GE(*seen.front().cold_start_s, 0.3);  // the keeper looks a moment after the start
  EXPECT_LT(*seen.front().cold_start_s, 30);
  // Users see it in the status.
  const auto status = nlohmann::json::parse(status_json("chat", pool_, tally_, *keeper_));
  EXPECT_EQ(status["replicas"][0]["cold_start_s"], *seen.front().cold_start_s);
  wanted_ = 0;
  EXPECT_TRUE(await([&] { return keeper_->seen().empty(); }));
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

/// A connection that can be left at any moment.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(socket_); }

  bool is_connected() const { return is_connected_; }
  bool send(const std::string& bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// All that comes until the other side closes.
  std::string receive() const {
    std::string all;
    std::array<char, 4096> piece;
    for (ssize_t got; (got = ::recv(socket_, piece.data(), piece.size(), 0)) > 0;) {
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int socket_;
  bool is_connected_ = false;
};

std::string completion(const nlohmann::json& body, const std::string& more_heads = "") {
  const std::string text = body.dump();
  return "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
         more_heads + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

/// Replicas that take a minute until the first byte of an answer.
class SilentReplicasTest : public ReplicaServiceTest {
 protected:
  SilentReplicasTest() : ReplicaServiceTest({"60000"}) {}
  std::string request() const { return completion({{"prompt", "a"}, {"max_tokens", 1}}); }
  void leave(int clients) {
    std::vector<std::unique_ptr<RawClient>> all;
    for (int each = 0; each < clients; ++each) {
      all.push_back(std::make_unique<RawClient>(front_->port()));
      ASSERT_TRUE(all.back()->send(request()));
    }
    ASSERT_TRUE(await([&] { return tally_.in_hand() == static_cast<std::uint64_t>(clients); }));
  }
};

TEST_F(SilentReplicasTest, AClientThatLeavesFreesItsPlaceAtTheReplicaAndInTheLine) {
  begin(1, 1);
  ASSERT_TRUE(await([&] { return pool_.load().ready == 1; }));
  leave(10);  // four at the replica, six in line
  EXPECT_TRUE(await([&] { return tally_.in_hand() == 0; })) << "the replica answers in a minute";
  EXPECT_EQ(ended(Fate::client_left), 10u);
  EXPECT_EQ(pool_.load().running, 0);
  EXPECT_EQ(pool_.load().waiting, 0);
  EXPECT_EQ(pool_.load().ready, 1) << "it did nothing wrong";
}

TEST_F(SilentReplicasTest, AnswersGatewayTimeoutWhereNoFirstByteComesInTime) {
  begin(1, 1, {.first_byte = 300ms, .at_once = 64});
  ASSERT_TRUE(await([&] { return pool_.load().ready == 1; }));
  const RawClient client(front_->port());
  ASSERT_TRUE(
      client.send(completion({{"prompt", "a"}, {"max_tokens", 1}}, "Connection: close\r\n")));
  EXPECT_EQ(client.receive().substr(0, 12), "HTTP/1.1 504");
  EXPECT_EQ(ended(Fate::refused), 1u);
  EXPECT_EQ(pool_.load().ready, 1);
}

/// How many connections the kernel keeps for the socket of this process that listens on `port`.
int backlog(int port) {
  constexpr int kMostDescriptors = 4096;
  for (int each = 0; each < kMostDescriptors; ++each) {
    sockaddr_in place{};
    socklen_t size = sizeof place;
    int listens = 0;
    socklen_t length = sizeof listens;
    if (::getsockopt(each, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) {
      continue;
    }
    if (::getsockname(each, reinterpret_cast<sockaddr*>(&place), &size) != 0) continue;
    if (ntohs(place.sin_port) != port) continue;
    tcp_info seen{};
    size = sizeof seen;
    // Of a socket that listens, tcpi_sacked is its longest backlog (Linux, tcp_get_info).
    if (::getsockopt(each, IPPROTO_TCP, TCP_INFO, &seen, &size) != 0) return 0;
    return static_cast<int>(seen.tcpi_sacked);
  }
  return 0;
}

TEST_F(ReplicaServiceTest, AsksTheKernelForItsLongestBacklog) {
  begin(1, 1);
  std::ifstream file("/proc/sys/net/core/somaxconn");
  int longest = 0;
  ASSERT_TRUE(file >> longest);
  EXPECT_EQ(backlog(front_->port()), std::min(longest, SOMAXCONN));
}

TEST_F(ReplicaServiceTest, RefusesWhatItCannotHoldAndWhatHasTwoMeanings) {
  begin(1, 1, {.at_once = 8, .request_bytes = 100'000, .held_bytes = 150'000});
  ASSERT_TRUE(await([&] { return pool_.load().ready == 1; }));
  const auto status = [&](const std::string& request) {
    const RawClient client(front_->port());
    EXPECT_TRUE(client.is_connected());
    client.send(request);
    const std::string answer = client.receive();
    return answer.substr(0, answer.find("\r\n")).substr(0, 12);
  };
  const std::string head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(status(head + "Content-Length: 20000000000\r\n\r\n"), "HTTP/1.1 413");
  std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (int each = 0; each < 20; ++each) chunks += "2710\r\n" + std::string(10'000, 'x') + "\r\n";
  EXPECT_EQ(status(chunks), "HTTP/1.1 413") << "200,000 bytes in pieces";
  EXPECT_EQ(status(head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), "HTTP/1.1 400");
  EXPECT_EQ(status(head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "HTTP/1.1 400");
  EXPECT_EQ(status(head + "Host: y\r\nContent-Length: 2\r\n\r\n{}"), "HTTP/1.1 400");
  EXPECT_EQ(tally_.seen().accepted, 0u) << "no replica saw any of it";

  // Two bodies of which each is small enough, and both together are not. The first lacks a byte, so
  // it is held until its client leaves; the second is complete, so it never waits. Which of the two
  // the service reads first is not certain: both come again until the second finds no room.
  const std::string body(90'000, ' ');
  ASSERT_TRUE(await([&] {
    const RawClient first(front_->port());
    first.send(head + "Content-Length: 90000\r\n\r\n" + body.substr(1));
    std::this_thread::sleep_for(20ms);
    return status(head + "Connection: close\r\nContent-Length: 90000\r\n\r\n" + body) ==
           "HTTP/1.1 503";
  }));
  EXPECT_EQ(ask(1, false), Got::whole);
}

/// A client that sends a byte from time to time keeps the only thread neither while its request
/// comes in nor once that was refused.
TEST_F(ReplicaServiceTest, ATricklingClientKeepsNoThread) {
  begin(1, 1, {.request = 300ms, .at_once = 1});
  ASSERT_TRUE(await([&] { return pool_.load().ready == 1; }));
  for (const char* const head :
       {"POST / HTTP/1.1\r\nX: ",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"}) {
    SCOPED_TRACE(head);
    std::atomic<bool> is_answered = false;
    const RawClient slow(front_->port());
    ASSERT_TRUE(slow.send(head));
    std::thread trickle([&] {
      while (!is_answered) {
        slow.send("x");
        std::this_thread::sleep_for(50ms);
      }
    });
    EXPECT_EQ(ask(1, false), Got::whole);
    is_answered = true;
    trickle.join();
  }
}

TEST_F(ReplicaServiceTest, SaysThatItsPortIsTaken) {
  begin(1, 1);
  const auto second = Front::start(front_->port(), pool_, tally_, [] { return std::string(); }, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::unavailable);
}

}  // namespace
}  // namespace almanac::replicas
