// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a workload waits, which quota is short, and when it is expected to start.
#include "kube/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/snapshot.h"
#include "objects.h"

namespace almanac::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kNow = "Sun, 01 Nov 2026 12:00:00 GMT";

class OutlookTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.date = kNow;
    make_cluster(server_);
  }
  /// Adds a workload of 8 GPUs of team `team` that has run since `since`.
  void run(const std::string& team, const std::string& name, const std::string& since,
           int gpus = 8) {
    server_.create(in_namespace(team, "workloads"), workload(name, "main", gpus));
    server_.patch(in_namespace(team, "workloads") + "/" + name,
                  admitted("team-" + team, gpus, since));
  }
  void wait(const std::string& team, const std::string& name, int gpus, Json more = {}) {
    Json made = workload(name, "main", gpus);
    if (!more.is_null()) made.merge_patch(more);
    server_.create(in_namespace(team, "workloads"), made);
  }
  /// Adds runs of two hours that have ended.
  void end_runs(const std::string& team, int count) {
    for (int at = 0; at < count; ++at) {
      const std::string name = "past-" + std::to_string(at);
      server_.create(in_namespace(team, "workloads"), workload(name, "main", 1));
      server_.patch(in_namespace(team, "workloads") + "/" + name,
                    finished("team-" + team, 1, "2026-11-01T01:00:00Z", "2026-11-01T03:00:00Z"));
    }
  }
  std::vector<Outlook> look() {
    Client client = Client::to({.server = server_.url()}).value();
    picture_ = take_picture(client).value();
    Lifetimes lifetimes;
    lifetimes.learn(log_of(picture_));
    return outlook_of(picture_, lifetimes);
  }
  std::string name_of(const Outlook& outlook) const {
    return picture_.workloads[outlook.workload].name;
  }
  static Time at(int hour, int minute = 0) {
    constexpr Time kMidnight{std::chrono::seconds(1'793'491'200)};  // 2026-11-01
    return kMidnight + std::chrono::hours(hour) + std::chrono::minutes(minute);
  }

  ApiServer server_;
  Picture picture_;
};

// Both queues are full with runs that began at 11:00 and 11:30. Runs take two hours, so 8 GPUs are
// free at 13:00 and the other 8 at 13:30.
TEST_F(OutlookTest, PlaysKueueForward) {
  end_runs("a", 5);
  run("a", "one", "2026-11-01T11:00:00Z");
  run("b", "two", "2026-11-01T11:30:00Z");
  wait("a", "first", 8);
  wait("a", "second", 8);
  const auto found = look();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(name_of(found[0]), "first");
  EXPECT_EQ(found[0].start_half, at(13));
  EXPECT_EQ(found[0].start_by, at(13));
  EXPECT_EQ(found[1].start_by, at(13, 30));
}

TEST_F(OutlookTest, NamesTheQuotaThatIsShort) {
  run("a", "one", "2026-11-01T11:00:00Z", 8);
  run("b", "two", "2026-11-01T11:00:00Z", 3);
  wait("a", "large", 8);
  const auto found = look();
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_THAT(found[0].shortages, SizeIs(1));
  EXPECT_EQ(kueue::to_string(found[0].shortages[0]),
            "flavor default: needs 8 nvidia.com/gpu, 5 left: the queues of cohort research use 11 "
            "of the 16 that they share");
  EXPECT_EQ(found[0].start_by, kNoTime) << "nobody knows how long workloads run";
}

TEST_F(OutlookTest, NamesABorrowingLimit) {
  server_.create(kKueueApi + "/clusterqueues",
                 cluster_queue("team-c", 4, "research", {{"borrowingLimit", 2}}));
  server_.create(in_namespace("c", "localqueues"), local_queue("main", "team-c"));
  run("c", "one", "2026-11-01T11:00:00Z", 4);
  wait("c", "large", 3);
  const auto found = look();
  ASSERT_THAT(found[0].shortages, SizeIs(1));
  EXPECT_EQ(kueue::to_string(found[0].shortages[0]),
            "flavor default: needs 3 nvidia.com/gpu, 2 left: ClusterQueue team-c uses 4 of its "
            "quota of 4 and may borrow at most 2");
}

TEST_F(OutlookTest, NamesTheHeadOfAStrictQueue) {
  Json strict = cluster_queue("team-c", 4);
  strict["spec"]["queueingStrategy"] = "StrictFIFO";
  server_.create(kKueueApi + "/clusterqueues", strict);
  server_.create(in_namespace("c", "localqueues"), local_queue("main", "team-c"));
  run("c", "one", "2026-11-01T11:00:00Z", 2);
  wait("c", "big", 4);
  wait("c", "small", 1, {{"metadata", {{"creationTimestamp", "2026-11-01T01:00:00Z"}}}});
  const auto found = look();
  EXPECT_EQ(found[0].blocker, "");
  EXPECT_THAT(found[1].shortages, IsEmpty());
  EXPECT_EQ(found[1].blocker, "c/big");
}

TEST(Shortage, GivesTheUnitOfMemory) {
  EXPECT_EQ(kueue::to_string({.why = kueue::Shortage::Why::too_large,
                              .resource = "memory",
                              .flavor = "cpu",
                              .wanted = 1'100'000'000'000,
                              .most = 274'900'000'000,
                              .holder = "ClusterQueue cpu"}),
            "flavor cpu: needs 1100 GB of memory, and ClusterQueue cpu could have at most 274.9 GB "
            "if nothing ran");
}

TEST_F(OutlookTest, SaysWhatCanNeverStart) {
  wait("a", "huge", 64);
  wait("a", "stopped", 1, {{"spec", {{"active", false}}}});
  wait("a", "lost", 1, {{"spec", {{"queueName", "nowhere"}}}});
  wait("a", "ready", 1);
  const auto found = look();
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[0].obstacle, "its LocalQueue nowhere does not exist");
  EXPECT_EQ(name_of(found[1]), "huge");
  EXPECT_EQ(kueue::to_string(found[1].shortages[0]),
            "flavor default: needs 64 nvidia.com/gpu, and ClusterQueue team-a could have at most "
            "16 if nothing ran");
  EXPECT_EQ(found[1].start_by, kNever);
  EXPECT_TRUE(found[1].never_starts);
  EXPECT_FALSE(found[2].never_starts);
  EXPECT_EQ(name_of(found[2]), "ready");
  EXPECT_THAT(found[2].shortages, IsEmpty());
  EXPECT_EQ(found[2].start_by, picture_.at) << "it fits now";
  EXPECT_EQ(found[3].obstacle, "it is deactivated (spec.active is false)");
}

// A Deployment holds its quota until it is deleted.
TEST_F(OutlookTest, ServingNeverEnds) {
  end_runs("a", 5);
  wait("a", "served", 8,
       {{"metadata",
         {{"ownerReferences",
           {{{"apiVersion", "apps/v1"},
             {"kind", "Deployment"},
             {"name", "chat"},
             {"uid", "uid-chat"},
             {"controller", true}}}}}}});
  server_.patch(in_namespace("a", "workloads") + "/served",
                admitted("team-a", 8, "2026-11-01T11:00:00Z"));
  run("b", "two", "2026-11-01T11:00:00Z");
  wait("a", "job", 16);
  EXPECT_EQ(look()[0].start_by, kNever);
}

// Four runs of an hour say too little of their own; those longer than the age count.
TEST(Lifetimes, DrawsFromRunsThatLastedLonger) {
  trace::Trace log;
  for (const auto& [hours, account] :
       {std::pair(1, "a/main"), std::pair(3, "a/main"), std::pair(2, "b/main")}) {
    for (std::size_t copies = 0; copies < (account[0] == 'a' ? 5U : 4U); ++copies) {
      trace::Job& job = log.jobs.emplace_back();
      job.request.account = log.names.intern(account);
      job.outcome.run = std::chrono::hours(hours);
      job.outcome.state = trace::JobState::completed;
    }
  }
  Lifetimes lifetimes;
  lifetimes.learn(log);
  Rng rng(1);
  Workload own{.name = "w", .name_space = "a", .local_queue = "main"};
  std::set<Duration> drawn;
  for (int draws = 0; draws < 100; ++draws) drawn.insert(lifetimes.draw(own, 90min, rng));
  EXPECT_THAT(drawn, ElementsAre(3h));
  EXPECT_EQ(lifetimes.draw(own, 5h, rng), kNoDuration) << "none lasted as long";
  own.limit = 6h;
  EXPECT_EQ(lifetimes.draw(own, 5h, rng), 6h);
  own.limit = 2h;
  EXPECT_EQ(lifetimes.draw(own, 90min, rng), 2h);
}

}  // namespace
}  // namespace almanac::kube
