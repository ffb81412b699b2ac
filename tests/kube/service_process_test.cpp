// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac serve --engine kubernetes` as a process of its own: killed at the worst moment, asked
/// by commands, and with 10,000 workloads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_server.h"
#include "kube/client.h"
#include "objects.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac::kube {
namespace {

using testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

class ServingProcess {
 public:
  /// Its log goes to the file `log`.
  ServingProcess(const ApiServer& server, const std::string& state, const std::string& order,
                 const std::string& log = "/dev/null") {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    const std::string url = server.url();
    process_ = ::fork();
    if (process_ == 0) {
      std::freopen(log.c_str(), "w", stderr);
      std::freopen("/dev/null", "w", stdout);
      ::execl(program, program, "serve", "--engine", "kubernetes", "--server", url.c_str(),
              "--state", state.c_str(), "--order", order.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~ServingProcess() { end(SIGKILL); }
  void end(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
  }
  /// The most memory that it has had, MB.
  int most_mb() const {
    std::ifstream file(fmt::format("/proc/{}/status", process_));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) return std::stoi(line.substr(6)) / 1024;
    }
    return -1;
  }

 private:
  pid_t process_ = -1;
};

class ServiceProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.date = "Sun, 01 Nov 2026 12:00:00 GMT";
    make_cluster(server_, "");
  }
  void wait(const std::string& name, int gpus, const std::string& created, int limit_s) {
    Json made = workload(name, "main", gpus);
    made["metadata"]["creationTimestamp"] = created;
    made["spec"]["maximumExecutionTimeSeconds"] = limit_s;
    server_.create(kJobs, made);
  }
  std::int64_t priority(const std::string& name) {
    Client client = Client::to({.server = server_.url(), .from = server_.url()}).value();
    return Json::parse(client.get(kJobs + "/" + name).value())["spec"]["priority"];
  }
  static bool comes(const std::function<bool()>& is_true) {
    const auto until = SteadyClock::now() + std::chrono::seconds(60);
    while (SteadyClock::now() < until) {
      if (is_true()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  const std::string kJobs = in_namespace("a", "workloads");
  ApiServer server_;
  TemporaryFolder folder_;
  const std::string state_ = folder_ / "state";
};

// The server applies the patch of a service that is dead by then. Only the journal knows.
TEST_F(ServiceProcessTest, AWriteThatTheServiceDidNotSurviveIsTakenBack) {
  wait("long", 8, "2026-11-01T10:00:00Z", 3600);
  wait("short", 8, "2026-11-01T11:00:00Z", 60);
  // Shared with the server's thread, which may outlive a test that fails.
  const auto has_come = std::make_shared<std::atomic<bool>>(false);
  const auto goes_on = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<void> guard(nullptr, [goes_on](void*) { *goes_on = true; });
  server_.before_patch = [has_come, goes_on] {
    *has_come = true;
    while (!*goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  {
    ServingProcess killed(server_, state_, "on");
    ASSERT_TRUE(comes([&] { return has_come->load(); }));
    killed.end(SIGKILL);
  }
  *goes_on = true;
  ASSERT_TRUE(comes([&] { return priority("short") == 3; })) << "the request was on its way";
  const ServingProcess next(server_, state_, "off");
  EXPECT_TRUE(comes([&] { return priority("short") == 0; }));
}

/// Stops the server in the middle of a write. Shared with its threads.
struct Stop {
  enum class At : std::uint8_t { nowhere, before, after };
  std::atomic<At> at{At::nowhere};
  std::atomic<bool> has_come{false};
  std::atomic<bool> goes_on{false};
  std::atomic<bool> is_lost{false};  ///< The server dies before it writes.

  void pass(At here) {
    if (at != here) return;
    has_come = true;
    while (!goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (here == At::before && is_lost) throw std::runtime_error("killed");
  }
};

class KillOfBothTest : public ServiceProcessTest {
 protected:
  static constexpr int kWorkloads = 8;

  void SetUp() override {
    ServiceProcessTest::SetUp();
    // The newer, the shorter.
    for (int at = 0; at < kWorkloads; ++at) {
      const std::string name = fmt::format("w{}", at);
      wait(name, 8, fmt::format("2026-11-01T10:0{}:00Z", at), 3600 * (kWorkloads - at));
      order_.insert(order_.begin(), name);
    }
    server_.before_patch = [stop = stop_] { stop->pass(Stop::At::before); };
    server_.after_patch = [stop = stop_, writes = writes_](const Json& made) {
      {
        const std::lock_guard lock(writes->mutex);
        const Json& metadata = made["metadata"];
        writes->all.emplace_back(metadata["uid"], made["spec"]["priority"]);
        writes->last = metadata["name"];
      }
      stop->pass(Stop::At::after);
    };
  }
  void TearDown() override { stop_->goes_on = true; }

  /// Kills both at the next write. `meanwhile` happens while neither is there, before a write that
  /// is on its way arrives.
  void kill_both(
      Stop::At at, bool is_lost, const std::function<void()>& meanwhile = [] {}) {
    stop_->has_come = false;
    stop_->goes_on = false;
    stop_->is_lost = is_lost;
    stop_->at = at;
    ServingProcess killed(server_, state_, "on");
    ASSERT_TRUE(comes([&] { return stop_->has_come.load(); }));
    killed.end(SIGKILL);
    meanwhile();
    stop_->at = Stop::At::nowhere;
    stop_->goes_on = true;
    server_.restart();
  }
  /// Another workload of the same name, which is to be the last.
  void make_again(const std::string& name) {
    server_.remove(kJobs + "/" + name);
    wait(name, 8, "2026-11-01T11:50:00Z", 360'000);
    order_.erase(std::find(order_.begin(), order_.end(), name));
    order_.push_back(name);
  }
  std::string last_written() const {
    const std::lock_guard lock(writes_->mutex);
    return writes_->last;
  }
  /// The first of the order has rank 3, the next four have 2, and the last three none.
  bool are_ranked() {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      if (priority(order_[at]) != (at == 0 ? 3 : at < 5 ? 2 : 0)) return false;
    }
    return true;
  }

  struct Writes {
    std::mutex mutex{};
    std::vector<std::pair<std::string, std::int64_t>> all{};  ///< Uid and number.
    std::string last{};                                       ///< Name.
  };
  const std::shared_ptr<Stop> stop_ = std::make_shared<Stop>();
  const std::shared_ptr<Writes> writes_ = std::make_shared<Writes>();
  std::vector<std::string> order_{};  ///< As the ranks are to be.
};

// The answer to the first write is lost, then a write itself.
TEST_F(KillOfBothTest, DoublesNoWriteAndLosesNone) {
  kill_both(Stop::At::after, false);
  EXPECT_EQ(last_written(), "w7");
  kill_both(Stop::At::before, true);
  const ServingProcess next(server_, state_, "on");
  ASSERT_TRUE(comes([&] { return are_ranked(); }));
  const std::lock_guard lock(writes_->mutex);
  EXPECT_EQ(writes_->all.size(), 5U);
  const std::set<std::pair<std::string, std::int64_t>> distinct(writes_->all.begin(),
                                                                writes_->all.end());
  EXPECT_EQ(distinct.size(), 5U);
}

// The workload that was written, and then one to which a write is on its way, are made again under
// their names. The server forgets its changes.
TEST_F(KillOfBothTest, GivesNoWorkloadTheRankOfAnotherUid) {
  kill_both(Stop::At::after, false, [&] { make_again("w7"); });
  EXPECT_EQ(last_written(), "w7");
  EXPECT_EQ(priority("w7"), 0);
  kill_both(Stop::At::before, false, [&] {
    make_again("w6");
    server_.compact();
  });
  EXPECT_EQ(last_written(), "w7") << "the write to the former w6 arrives, and is refused";
  EXPECT_EQ(priority("w6"), 0);
  const ServingProcess next(server_, state_, "on");
  EXPECT_TRUE(comes([&] { return are_ranked(); }));
}

TEST_F(ServiceProcessTest, UndoNeedsNoService) {
  wait("long", 8, "2026-11-01T10:00:00Z", 3600);
  wait("short", 8, "2026-11-01T11:00:00Z", 60);
  const std::vector<std::string> undo{"kube", "undo", "--server", server_.url(), "--state", state_};
  EXPECT_THAT(run_program(undo).err, HasSubstr("has no journal"));
  {
    const ServingProcess killed(server_, state_, "on");
    ASSERT_TRUE(comes([&] { return priority("short") == 3; }));
    EXPECT_THAT(run_program(undo).err, HasSubstr("another almanac process uses this folder"));
  }
  EXPECT_THAT(run_program(undo).err, HasSubstr("holds the Lease almanac/almanac until 2026-11-01"));
  std::vector<std::string> forced = undo;
  forced.emplace_back("--force");
  EXPECT_EQ(run_program(forced).out, "1 change taken back\n");
  EXPECT_EQ(priority("short"), 0);
  server_.date = "Sun, 01 Nov 2026 12:01:00 GMT";  // the Lease has expired
  EXPECT_EQ(run_program(undo).out, "0 changes taken back\n");
}

// An operator who only reads the log must see that nothing is written, and that nothing is seen.
TEST_F(ServiceProcessTest, TheLogSaysThatARightIsMissingAndThatTheServerIsAway) {
  wait("long", 8, "2026-11-01T10:00:00Z", 3600);
  wait("short", 8, "2026-11-01T11:00:00Z", 60);
  server_.set_tokens({{"token", "admin"}});
  server_.set_rights([](const std::string&, const std::string& verb, const std::string&) {
    return verb != "patch";
  });
  const std::string log = folder_ / "log";
  const ServingProcess service(server_, state_, "on", log);
  const auto says = [&](const char* text) {
    std::ifstream file(log);
    const std::string all(std::istreambuf_iterator<char>(file), {});
    return all.find(text) != std::string::npos;
  };
  EXPECT_TRUE(comes([&] { return says("lever order rests: "); }));
  EXPECT_TRUE(says("cannot patch resource"));
  EXPECT_FALSE(says("true run times"));
  server_.fail_next(1'000'000, 503);
  server_.cut_streams();
  EXPECT_TRUE(comes([&] { return says("the cluster is not seen: "); }));
  server_.fail_next(0, 503);
  EXPECT_TRUE(comes([&] { return says("the cluster is seen again"); }));
}

TEST_F(ServiceProcessTest, CommandsAskIt) {
  wait("waits", 640, "2026-11-01T11:00:00Z", 60);
  const ServingProcess service(server_, state_, "dry");
  ASSERT_TRUE(comes([&] { return std::filesystem::exists(state_ + "/almanac.sock"); }));
  const std::vector<std::string> at{"--socket", state_ + "/almanac.sock"};
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.end(), at.begin(), at.end());
    return run_program(words);
  };
  ASSERT_TRUE(comes([&] {
    return ask({"explain", "1"}).out.find("could have at most 8") != std::string::npos;
  })) << ask({"explain", "1"}).out
      << ask({"explain", "1"}).err;
  const ProgramRun by_name = ask({"explain", "a/waits"});
  EXPECT_EQ(by_name.out, ask({"explain", "1"}).out) << by_name.err;
  EXPECT_THAT(by_name.out, HasSubstr("it can never start under these quotas"));
  EXPECT_THAT(ask({"explain", "a/none"}).err, HasSubstr("has no workload called a/none"));
  EXPECT_THAT(ask({"queue"}).out, HasSubstr("waits"));
  EXPECT_THAT(ask({"nodes"}).out, HasSubstr("use not known"));
  EXPECT_THAT(ask({"hold", "1"}).err, HasSubstr("does not write spec.active"));
  EXPECT_THAT(ask({"cancel", "1"}).err, HasSubstr("kubectl delete job"));
}

// Memory and times are measured, and not asserted.
TEST_F(ServiceProcessTest, HasRoomForTenThousandWorkloads) {
  constexpr int kMany = 10'000;
  for (int at = 0; at < kMany; ++at) {
    wait(fmt::format("w{}", at), 1 + at % 8, "2026-11-01T11:00:00Z", 600 + at % 7000);
  }
  const auto begun = SteadyClock::now();
  const ServingProcess service(server_, state_, "on");
  ASSERT_TRUE(comes([&] { return std::filesystem::exists(state_ + "/almanac.sock"); }));
  const std::chrono::duration<double> opened = SteadyClock::now() - begun;
  ASSERT_TRUE(
      comes([&] { return server_.rights_used().contains("patch kueue.x-k8s.io/workloads"); }));
  const std::chrono::duration<double> written = SteadyClock::now() - begun;
  const ProgramRun listed =
      run_program({"queue", "--socket", state_ + "/almanac.sock", "-o", "csv"});
  EXPECT_GE(std::count(listed.out.begin(), listed.out.end(), '\n'), kMany);
  fmt::print("10,000 workloads: serves after {:.1f} s, first write after {:.1f} s, {} MB\n",
             opened.count(), written.count(), service.most_mb());
  EXPECT_GT(service.most_mb(), 0);
}

}  // namespace
}  // namespace almanac::kube
