// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Kubernetes cluster, first as it only watches, then as lever `order` writes.
#include <filesystem>
#include <limits>

#include "admitter.h"
#include "serve/metrics.h"
#include "service_fixture.h"
#include "steer_kube/undo.h"

namespace almanac::steer_kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(KubeServiceTest, AShadowDecidesAndWritesNothing) {
  fill();
  open(service::Switch::dry);
  ASSERT_TRUE(comes([&] { return view("a/short-9").expected.has_value(); }));
  EXPECT_EQ(view("a/short-9").place, 1);
  EXPECT_EQ(view("a/long-9").place, 2);
  // Five such workloads ran for 1 h, and five others of the queue for 10 h.
  EXPECT_LT(view("a/short-9").believed, view("a/long-9").believed);
  EXPECT_GE(view("a/short-9").believed, 1h);
  EXPECT_THAT(view("a/long-9").why, HasSubstr("8 nvidia.com/gpu"));
  // By Kueue's order: runs-a has run for 1 h, as all that lasted longer it runs for 10 h, and then
  // so does long-9.
  const auto why = service_->explain(view("a/short-9").job.number, service::Eyes::owner);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, testing::Contains("expected start: 2026-11-02 07:00:00 UTC (50 %), "
                                      "2026-11-02 07:00:00 UTC (90 %)"));
  EXPECT_THAT(lever().next, ElementsAre("a/short-9: spec.priority 0 -> 3; place 1 of 2 in team-a"));
  EXPECT_EQ(service_->overview().waiting, 2);
  EXPECT_EQ(service_->overview().running, 2);
  EXPECT_EQ(service_->overview().gpus_busy, 16);
  go_on();
  for (const char* const verb : {"patch", "update", "create", "delete"}) {
    EXPECT_FALSE(has_used(verb)) << verb;
  }
}

TEST_F(KubeServiceTest, MetricsAreByQueueLocalQueueAndNamespace) {
  fill();
  open(service::Switch::dry);
  const std::string text = serve::Metrics().text(*service_);
  EXPECT_THAT(text, HasSubstr("almanac_queue_gpus{cluster_queue=\"team-a\",namespace=\"a\","
                              "local_queue=\"main\",state=\"waiting\"} 16"));
  EXPECT_THAT(text, HasSubstr("almanac_queue_workloads{cluster_queue=\"team-b\",namespace=\"b\","
                              "local_queue=\"main\",state=\"running\"} 1"));
  EXPECT_THAT(text, HasSubstr("almanac_lever_wanted{lever=\"order\"} 1"));
}

TEST_F(KubeServiceTest, ItKeepsRunsUnderTheSameNumbers) {
  fill();
  open(service::Switch::dry);
  const store::JobNumber waits = view("a/long-9").job.number;
  server_.patch(kJobs + "/runs-a",
                kube::finished("team-a", 8, "2026-11-01T11:00:00Z", "2026-11-01T11:59:00Z"));
  const auto ended = [&] { return service_->store().ended(Time{})->size(); };
  ASSERT_TRUE(comes([&] { return ended() == 11; }));
  server_.remove(kJobs + "/runs-a");
  open(service::Switch::dry);
  EXPECT_EQ(view("a/long-9").job.number, waits);
  EXPECT_EQ(ended(), 11U) << "each run once";
  const auto jobs = service_->store().ended(Time{});
  for (const store::Job& job : *jobs) {
    if (job.asked->comment == "a/runs-a") {
      EXPECT_EQ(job.attained, 59min);
    }
  }
}

TEST_F(KubeServiceTest, AnOrderChangesWhoIsAdmitted) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  server_.remove(kJobs + "/runs-a");
  EXPECT_THAT(kube::admit(server_, "2026-11-01T12:00:00Z"), ElementsAre("a/short-9"));
}

TEST_F(KubeServiceTest, WithoutAnOrderTheOlderIsAdmitted) {
  fill();
  open(service::Switch::dry);
  go_on();
  server_.remove(kJobs + "/runs-a");
  EXPECT_THAT(kube::admit(server_, "2026-11-01T12:00:00Z"), ElementsAre("a/long-9"));
}

TEST_F(KubeServiceTest, NumbersThatKueueResetsAreSetAgain) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  for (int restart = 0; restart < 3; ++restart) {
    server_.patch(kJobs + "/short-9", {{"spec", {{"priority", 0}}}});
    ASSERT_TRUE(comes([&] { return priority("short-9") == 3; })) << restart;
  }
  EXPECT_THAT(service_->overview().warnings, IsEmpty());
}

TEST_F(KubeServiceTest, NumbersOfOthersStay) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  server_.patch(kJobs + "/short-9", {{"spec", {{"priority", 50}}}});
  ASSERT_TRUE(comes([&] { return !service_->overview().warnings.empty(); }));
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("another writes the numbers of 1"));
  go_on();
  EXPECT_EQ(priority("short-9"), 50);
  open(service::Switch::on);
  go_on();
  EXPECT_EQ(priority("short-9"), 50) << "also after a restart";
  open(service::Switch::off);
  go_on();
  EXPECT_EQ(priority("short-9"), 50);
}

TEST_F(KubeServiceTest, TurnedOffItGivesAllNumbersBack) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  open(service::Switch::off);
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0 && priority("long-9") == 0; }));
}

// Otherwise its successor would rest until the Lease expires.
TEST_F(KubeServiceTest, AStoppedServiceReleasesTheLease) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  const std::atomic<bool> stop = true;
  service_->run(stop);
  kube::Client by_hand = client();
  const Json lease = Json::parse(
      by_hand.get("/apis/coordination.k8s.io/v1/namespaces/almanac/leases/almanac").value());
  EXPECT_FALSE(lease["spec"].contains("holderIdentity"));
  service_.reset();
  std::filesystem::remove_all(folder_ / "state");  // another service, with another name
  open(service::Switch::off);
  service_->step();
  service_->step();
  EXPECT_EQ(lever().rests, "");
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0; }));
}

TEST_F(KubeServiceTest, ACanaryThatCannotActSaysSo) {
  for (const char* const queue : {"team-a", "team-b"}) {
    server_.patch(kube::kKueueApi + "/clusterqueues/" + queue,
                  {{"spec", {{"cohortName", "research"}}}});
  }
  fill();
  open(service::Switch::on, {.canary = {"team-a"}});
  EXPECT_EQ(lever().rests,
            "no queue may get ranks; team-a: a rank would overtake queue team-b, which is in the "
            "same cohort tree");
}

TEST_F(KubeServiceTest, MoreGpusThanAJobCanHaveAreNoted) {
  fill();
  wait("huge-1", 1'000'000, "2026-11-01T11:50:00Z");
  open(service::Switch::dry);
  EXPECT_THAT(service_->overview().warnings,
              testing::Contains("1 workload with more than 65535 GPUs, such as a/huge-1: lists and "
                                "metrics show 65535"));
}

TEST_F(KubeServiceTest, ABoostLeavesThePriorityAlone) {
  fill();
  open(service::Switch::on, {.field = Field::boost});
  ASSERT_TRUE(comes([&] { return boost("short-9") == "3"; }));
  EXPECT_EQ(priority("short-9"), 0);
  open(service::Switch::off, {.field = Field::boost});
  EXPECT_TRUE(comes([&] { return boost("short-9").empty() && boost("long-9").empty(); }));
}

TEST_F(KubeServiceTest, AQueueThatPreemptsByPriorityGetsNoRanks) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  server_.patch(kube::kKueueApi + "/clusterqueues/team-a",
                {{"spec", {{"preemption", {{"withinClusterQueue", "LowerPriority"}}}}}});
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0 && priority("long-9") == 0; }));
  go_on();
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("could evict running workloads"));
}

TEST_F(KubeServiceTest, PrioritiesThatAreTooNearGetNoRanks) {
  fill();
  wait("other-1", 1, "2026-11-01T11:40:00Z", {{"spec", {{"priority", 2}}}});
  open(service::Switch::on);
  go_on();
  EXPECT_EQ(lever().wanted, 0);
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("priorities 0 and 2 are too near"));
}

// Kueue compares the first workloads of all queues of a cohort: 3 would go before the other's 0.
TEST_F(KubeServiceTest, AQueueThatSharesACohortGetsNoRanks) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  for (const char* const queue : {"team-a", "team-b"}) {
    server_.patch(kube::kKueueApi + "/clusterqueues/" + queue,
                  {{"spec", {{"cohortName", "research"}}}});
  }
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0; }));
  EXPECT_THAT(service_->overview().warnings[0],
              HasSubstr("would overtake queue team-b, which is in the same cohort tree"));
}

TEST_F(KubeServiceTest, ExemptWorkloadsAreNotOvertaken) {
  fill();
  server_.create(kube::in_namespace("c", "localqueues"), kube::local_queue("main", "team-a"));
  const std::string jobs = kube::in_namespace("c", "workloads");
  server_.create(jobs, kube::workload("exempt-1", "main", 8));
  open(service::Switch::on, {.exempt = {"c"}});
  go_on();
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("ranks of priority 0 would overtake"));
  // A rank of 3 would overtake priority 2 too, and not priority 4.
  server_.patch(jobs + "/exempt-1", {{"spec", {{"priority", 2}}}});
  go_on();
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("priorities 0 and 2 are too near"));
  server_.patch(jobs + "/exempt-1", {{"spec", {{"priority", 4}}}});
  EXPECT_TRUE(comes([&] { return priority("short-9") == 3; }));
}

TEST_F(KubeServiceTest, TheStoreOfAnotherEngineStaysAsItIs) {
  fill();
  std::filesystem::create_directories(folder_ / "state");
  const std::string path = folder_ / "state/almanac.db";
  store::Store::Batch batch;
  store::Job runs{.number = store::JobNumber{1}, .state = trace::JobState::running};
  runs.asked = store::Submission{.name = "mine"};
  batch.put(runs);
  ASSERT_TRUE(store::Store::open(path)->commit(batch));
  const auto refused = try_open(service::Switch::on);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(to_string(refused.error()),
              testing::AllOf(HasSubstr("belongs to engine machine, not to kubernetes"),
                             HasSubstr(folder_ / "state"), HasSubstr("--state")));
  EXPECT_EQ(store::Store::open(path)->unfinished()->size(), 1U);
}

TEST_F(KubeServiceTest, AnotherClusterIsRefused) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  const std::string path = "/api/v1/namespaces/kube-system";
  server_.patch(path, {{"metadata", {{"uid", "cluster-2"}}}});
  EXPECT_THAT(to_string(try_open(service::Switch::on).error()),
              HasSubstr("is of the cluster whose kube-system has uid cluster-1"));
  kube::Client other = client();
  const UndoOptions options{.state = folder_ / "state", .is_forced = true};
  const auto refused = undo(options, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  server_.patch(path, {{"metadata", {{"uid", "cluster-1"}}}});
  EXPECT_EQ(undo(options, other)->changes, 1) << "no number is forgotten";
}

TEST_F(KubeServiceTest, AWorkloadThatCannotBeReadHasNotGone) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  const store::JobNumber number = view("a/short-9").job.number;
  const Json pods = object("short-9")["spec"]["podSets"];
  Json broken = pods;
  broken[0]["template"]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] =
      "many";
  server_.patch(kJobs + "/short-9", {{"spec", {{"podSets", broken}}}});
  ASSERT_TRUE(comes([&] { return !service_->overview().warnings.empty(); }));
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("left out"));
  open(service::Switch::on);  // lists again
  go_on();
  EXPECT_EQ(view("a/short-9").job.state, trace::JobState::pending);
  kube::Client by_hand = client();
  stop();
  EXPECT_THAT(undo({.state = folder_ / "state"}, by_hand)->left,
              ElementsAre(HasSubstr("cannot be read")));
  server_.patch(kJobs + "/short-9", {{"spec", {{"podSets", pods}}}});
  open(service::Switch::off);
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0; })) << "its number is not forgotten";
  EXPECT_EQ(view("a/short-9").job.number, number);
}

TEST_F(KubeServiceTest, NumbersOfAFormerFieldAreGivenBackFirst) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  open(service::Switch::on, {.field = Field::boost});
  EXPECT_TRUE(comes([&] { return boost("short-9") == "3"; }));
  EXPECT_EQ(priority("short-9"), 0);
  open(service::Switch::off);
  EXPECT_TRUE(comes([&] { return boost("short-9").empty(); }));
  EXPECT_EQ(priority("short-9"), 0);
}

// The cache of the API server may be older than what Almanac wrote last.
TEST_F(KubeServiceTest, WorkloadsAreNeverListedFromACache) {
  open(service::Switch::dry);
  kube::Client by_hand = client();
  ASSERT_TRUE(kube::take_picture(by_hand));
  for (const std::string& asked : server_.asked()) {
    const bool is_list = asked.find("/workloads?limit") != std::string::npos;
    EXPECT_FALSE(is_list && asked.find("resourceVersion=0") != std::string::npos) << asked;
  }
}

// Kueue writes to a workload between the look and the patch.
TEST_F(KubeServiceTest, ChangesByOthersAreNoReasonToPause) {
  fill();
  int change = 0;
  server_.before_patch = [&] {
    server_.patch(kJobs + "/short-9",
                  {{"metadata", {{"labels", {{"change", std::to_string(++change)}}}}}});
  };
  open(service::Switch::on);
  EXPECT_TRUE(comes([&] { return lever().refused > 6; })) << lever().rests;
  EXPECT_EQ(lever().rests, "");
}

TEST_F(KubeServiceTest, TheLeaseSaysSinceWhenItIsHeld) {
  fill();
  open(service::Switch::on);
  kube::Client by_hand = client();
  const auto lease = [&] {
    const auto body = by_hand.get("/apis/coordination.k8s.io/v1/namespaces/almanac/leases/almanac");
    return body ? Json::parse(*body)["spec"] : Json();
  };
  ASSERT_TRUE(comes([&] { return !lease().is_null(); }));
  const Json first = lease();
  ASSERT_TRUE(comes([&] { return lease()["renewTime"] != first["renewTime"]; }));
  EXPECT_EQ(lease()["acquireTime"], first["acquireTime"]);
}

TEST_F(KubeServiceTest, ACanaryActsInItsQueuesOnly) {
  fill();
  open(service::Switch::on, {.canary = {"team-b"}});
  go_on();
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_THAT(service_->overview().warnings[0], HasSubstr("it is no canary queue"));
  open(service::Switch::on, {.canary = {"team-a"}});
  EXPECT_TRUE(comes([&] { return priority("short-9") == 3; }));
}

TEST_F(KubeServiceTest, OnlyTheHolderOfTheLeaseWrites) {
  fill();
  const Json spec{{"holderIdentity", "another"},
                  {"leaseDurationSeconds", 15},
                  {"renewTime", "2026-11-01T12:00:00.000000Z"}};
  server_.create("/apis/coordination.k8s.io/v1/namespaces/almanac/leases",
                 {{"metadata", {{"name", "almanac"}}}, {"spec", spec}});
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return !lever().rests.empty(); }));
  EXPECT_THAT(lever().rests, HasSubstr("another holds the Lease almanac/almanac"));
  EXPECT_FALSE(has_used("patch"));
}

TEST_F(KubeServiceTest, ItGoesOnAfterTheServerWasAway) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  server_.restart();
  wait("short-10", 1, "2026-11-01T11:45:00Z");
  server_.compact();
  EXPECT_TRUE(comes([&] {
    const auto all = service_->jobs({});
    return std::any_of(all->begin(), all->end(), [](const service::JobView& each) {
      return each.job.asked->comment == "a/short-10";
    });
  }));
  EXPECT_TRUE(comes([&] { return priority("short-10") == 3; }))
      << "it has the least expected GPU time; " << lever().rests;
}

TEST_F(KubeServiceTest, NoNumberLeaves32Bits) {
  fill();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  server_.patch(kJobs + "/long-9", {{"spec", {{"priority", kMost}}}});
  server_.patch(kJobs + "/short-9", {{"spec", {{"priority", kMost}}}});
  open(service::Switch::on);
  go_on();
  EXPECT_EQ(priority("short-9"), kMost);
  EXPECT_EQ(priority("long-9"), kMost);
}

TEST_F(KubeServiceTest, HostileTextIsHarmless) {
  fill();
  const char* const text = "9\n# HELP x\r\x1b[31m\"},{";
  wait("odd-1", 1, "2026-11-01T11:50:00Z",
       {{"metadata",
         {{"annotations", {{"kueue.x-k8s.io/priority-boost", text}}},
          {"ownerReferences", {{{"kind", "Job"}, {"name", text}}}}}},
        {"spec", {{"priorityClassName", text}}}});
  open(service::Switch::on, {.field = Field::boost});
  go_on();
  EXPECT_EQ(object("odd-1")["metadata"]["annotations"]["kueue.x-k8s.io/priority-boost"], text)
      << "what another wrote stays";
  const auto all = service_->jobs({});
  for (const service::JobView& each : *all) {
    EXPECT_EQ(each.job.asked->name.find_first_of("\n\r\x1b"), std::string::npos);
    EXPECT_EQ(each.job.asked->qos.find_first_of("\n\r\x1b"), std::string::npos);
  }
  kube::Client client = kube::Client::to({.server = server_.url(), .from = server_.url()}).value();
  for (const char* const name : {"../../nodes/x", "a?b", "a/b", "", "A%2e", ".."}) {
    EXPECT_FALSE(write_number(client, "v1beta2", {.name_space = "a", .name = name}, "1")) << name;
  }
}

TEST_F(KubeServiceTest, ARefusedRightRestsTheLever) {
  fill();
  server_.set_tokens({{"none", "nobody"}});
  server_.set_rights([](const std::string&, const std::string& verb, const std::string& resource) {
    return verb != "patch" || resource != "workloads";
  });
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return lever().failed == 1; }));
  EXPECT_THAT(lever().rests, HasSubstr("cannot patch"));
  go_on();
  EXPECT_EQ(lever().failed, 1U) << "it asks again after a minute";
}

TEST_F(KubeServiceTest, WritesFollowTheNumberOfEnds) {
  fill();
  // Fifty that wait, each newer one shorter than all before: the worst case.
  for (int at = 0; at < 50; ++at) {
    wait("w" + std::string(1, static_cast<char>('a' + at % 26)) + std::to_string(at / 26), 1,
         "2026-11-01T11:00:00Z", {{"spec", {{"maximumExecutionTimeSeconds", 3000 - 10 * at}}}});
  }
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return lever().done >= 2 * kueue::WriteBudget::kPerQueue; }) ||
              lever().wanted == 0);
  go_on();
  EXPECT_LE(lever().done, 2U * kueue::WriteBudget::kPerQueue);
}

}  // namespace
}  // namespace almanac::steer_kube
