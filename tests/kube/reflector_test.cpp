// SPDX-License-Identifier: Apache-2.0

/// \file
/// A collection stays current: pages, watches, bookmarks, expired versions, lost connections.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/collection.h"
#include "objects.h"

namespace almanac::kube {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kAll = kKueueApi + "/workloads";
const std::string kOfA = in_namespace("a", "workloads");

/// The uids that are there, as the reflector says.
class Uids final : public Sink {
 public:
  void begin_list() override {
    const std::lock_guard lock(mutex_);
    listed_.clear();
  }
  void end_list() override {
    const std::lock_guard lock(mutex_);
    uids_ = listed_;
    ++lists_;
  }
  void put(const Json& object) override {
    const std::lock_guard lock(mutex_);
    uids_.insert(object["metadata"]["uid"].get<std::string>());
    listed_.insert(object["metadata"]["uid"].get<std::string>());
  }
  void remove(const Json& object) override {
    const std::lock_guard lock(mutex_);
    uids_.erase(object["metadata"]["uid"].get<std::string>());
  }
  std::set<std::string> uids() const {
    const std::lock_guard lock(mutex_);
    return uids_;
  }
  int lists() const {
    const std::lock_guard lock(mutex_);
    return lists_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> uids_, listed_;
  int lists_ = 0;
};

/// Follows the workloads in a thread of its own.
class Follower {
 public:
  explicit Follower(const ApiServer& server)
      : client_(Client::to({.server = server.url()}).value()), thread_([this] {
          Reflector reflector(kAll, 1);
          while (!stop_) {
            const auto pause = reflector.round(client_, sink, &stop_);
            if (!pause) return;
            for (Duration slept{0}; slept < *pause && !stop_; slept += 10ms) {
              std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
          }
        }) {}
  ~Follower() {
    stop_ = true;
    thread_.join();
  }
  /// Waits until the sink is as wanted.
  bool sees(const std::set<std::string>& wanted) const {
    return comes([&] { return sink.uids() == wanted; });
  }
  static bool comes(const std::function<bool()>& is_true) {
    for (int tries = 0; tries < 3000 && !is_true(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return is_true();
  }

  Uids sink;

 private:
  std::atomic<bool> stop_{false};
  Client client_;
  std::thread thread_;
};

TEST(List, GoesThroughAllPages) {
  ApiServer server;
  for (int at = 0; at < 1201; ++at) {
    server.create(kOfA, workload(fmt::format("w{:04}", at), "main", 1));
  }
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  ASSERT_TRUE(list(client, kAll, sink));
  EXPECT_EQ(sink.uids().size(), 1201);
  EXPECT_EQ(server.asked().size(), 3);
  EXPECT_THAT(server.asked().front(), HasSubstr("limit=500&resourceVersion=0"));
}

// The pages of a list are of one moment: if that is forgotten, the list begins again.
TEST(List, BeginsAgainWhenAPageHasExpired) {
  ApiServer server;
  for (int at = 0; at < 501; ++at) {
    server.create(kOfA, workload(fmt::format("w{:03}", at), "main", 1));
  }
  server.expire_next_page();
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  ASSERT_TRUE(list(client, kAll, sink));
  EXPECT_EQ(sink.uids().size(), 501);
  EXPECT_EQ(server.asked().size(), 4);
  EXPECT_THAT(server.asked()[2], testing::Not(HasSubstr("resourceVersion=0")));
}

TEST(List, RefusesWhatIsNoListOrHasNoEnd) {
  ApiServer server;
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  server.answer_lists("{}");
  EXPECT_THAT(list(client, kAll, sink).error().message, HasSubstr("is not a Kubernetes list"));
  server.answer_lists(R"({"metadata": {"resourceVersion": "7"}, "items": {}})");
  EXPECT_THAT(list(client, kAll, sink).error().message, HasSubstr("is not a Kubernetes list"));
  server.answer_lists(R"({"metadata": {"continue": "same"}, "items": []})");
  EXPECT_THAT(list(client, kAll, sink).error().message, HasSubstr("do not end"));
  server.answer_lists(R"({"metadata": {"resourceVersion": "7"}, "items": null})");
  EXPECT_EQ(*list(client, kAll, sink), "7");
}

TEST(Reflector, SeesWhatChanges) {
  ApiServer server;
  server.create(kOfA, workload("first", "main", 1));
  const Follower follower(server);
  ASSERT_TRUE(follower.sees({"uid-first"}));
  server.create(kOfA, workload("second", "main", 1));
  EXPECT_TRUE(follower.sees({"uid-first", "uid-second"}));
  server.remove(kOfA + "/first");
  EXPECT_TRUE(follower.sees({"uid-second"}));
  EXPECT_EQ(follower.sink.lists(), 1) << "changes need no further list";
}

TEST(Reflector, WatchesOnFromWhereACutStreamWas) {
  ApiServer server;
  const Follower follower(server);
  ASSERT_TRUE(Follower::comes([&] { return server.streams() == 1; }));
  server.cut_streams();
  server.create(kOfA, workload("during", "main", 1));
  EXPECT_TRUE(follower.sees({"uid-during"}));
  EXPECT_EQ(follower.sink.lists(), 1);
}

// A bookmark is news of no object; the next watch begins at its version.
TEST(Reflector, KeepsTheVersionOfABookmark) {
  ApiServer server;
  const Follower follower(server);
  ASSERT_TRUE(Follower::comes([&] { return server.streams() == 1; }));
  server.create("/api/v1/nodes", node("other", 8));
  server.send_bookmarks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.compact();
  server.cut_streams();
  server.create(kOfA, workload("after", "main", 1));
  EXPECT_TRUE(follower.sees({"uid-after"}));
  EXPECT_EQ(follower.sink.lists(), 1) << "its version has not expired";
}

// What went between two lists is gone; what came again under its name is another object.
TEST(Reflector, ListsAgainWhenItsVersionHasExpired) {
  ApiServer server;
  server.create(kOfA, workload("gone", "main", 1));
  server.create(kOfA, workload("again", "main", 1));
  const Follower follower(server);
  ASSERT_TRUE(follower.sees({"uid-gone", "uid-again"}));
  ASSERT_TRUE(Follower::comes([&] { return server.streams() == 1; }));
  server.fail_next(1'000'000, 503);
  server.cut_streams();
  server.remove(kOfA + "/gone");
  server.remove(kOfA + "/again");
  Json other = workload("again", "main", 1);
  other["metadata"]["uid"] = "uid-other";
  server.create(kOfA, other);
  server.compact();
  server.fail_next(0, 503);
  EXPECT_TRUE(follower.sees({"uid-other"}));
  EXPECT_EQ(follower.sink.lists(), 2);
}

TEST(Reflector, OutlivesAServerThatWasKilled) {
  ApiServer server;
  const Follower follower(server);
  ASSERT_TRUE(Follower::comes([&] { return server.streams() == 1; }));
  server.create(kOfA, workload("before", "main", 1));
  server.restart();
  server.create(kOfA, workload("after", "main", 1));
  EXPECT_TRUE(follower.sees({"uid-before", "uid-after"}));
}

TEST(Reflector, WaitsAsLongAsABusyServerAsks) {
  ApiServer server;
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  Reflector reflector(kAll, 1);
  server.fail_next(1, 429);
  const auto first = reflector.round(client, sink);
  ASSERT_TRUE(first);
  EXPECT_GE(*first, 400ms);
  EXPECT_LE(*first, 800ms);
  EXPECT_THAT(reflector.trouble().message, HasSubstr("answered 429"));
  server.second = std::chrono::milliseconds(0);
  ASSERT_TRUE(reflector.round(client, sink));
  EXPECT_EQ(reflector.trouble().message, "");
  server.fail_next(1, 429, "7");
  EXPECT_EQ(*reflector.round(client, sink), 7s);
}

/// Returns the pauses after `rounds` rounds in which every watch sends `line`, and the last
/// trouble.
std::pair<std::vector<Duration>, std::string> pauses_after(const std::string& line, int rounds) {
  ApiServer server;
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  Reflector reflector(kAll, 1);
  server.answer_watches(line);
  std::vector<Duration> pauses;
  for (int at = 0; at < rounds; ++at) pauses.push_back(reflector.round(client, sink).value());
  return {pauses, reflector.trouble().message};
}

// Pauses are at least half of 0.8 s, 1.6 s, 3.2 s, 6.4 s.
TEST(Reflector, BacksOffFromAServerWhoseWatchesDoNotLast) {
  const auto doubles =
      ElementsAre(testing::Ge(400ms), testing::Ge(800ms), testing::Ge(1600ms), testing::Ge(3200ms));
  const auto [expired, why] = pauses_after(R"({"type": "ERROR", "object": {"code": 410}})", 4);
  EXPECT_THAT(expired, doubles);
  EXPECT_THAT(why, HasSubstr("so no watch lasts"));
  const auto [broken, no_event] = pauses_after("nonsense", 4);
  EXPECT_THAT(broken, doubles);
  EXPECT_THAT(no_event, HasSubstr("a watch event: expected an object"));
  EXPECT_THAT(pauses_after(R"({"type": "ERROR", "object": {}})", 4).first, doubles);
}

TEST(Reflector, GivesUpWithoutTheRight) {
  ApiServer server;
  server.set_tokens({{"x", "nobody"}});
  Client client = Client::to({.server = server.url()}).value();
  Uids sink;
  Reflector reflector(kAll, 1);
  const auto refused = reflector.round(client, sink);
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("cannot list resource \"workloads\""));
}

}  // namespace
}  // namespace almanac::kube
