// SPDX-License-Identifier: Apache-2.0

/// \file
/// PodGroups of Volcano and KAI as workloads, and what the doctor says of both.
#include "kube/pod_groups.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/doctor.h"
#include "kube/snapshot.h"
#include "objects.h"

namespace almanac::kube {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Json pod_group(const std::string& name, const std::string& queue, int pods,
               const std::string& phase) {
  return {{"metadata", {{"name", name}, {"creationTimestamp", "2026-11-01T09:00:00Z"}}},
          {"spec",
           {{"queue", queue}, {"minMember", pods}, {"minResources", {{"nvidia.com/gpu", "8"}}}}},
          {"status", {{"phase", phase}}}};
}

/// A pod of 4 GPUs. "" = it has not started, or not ended.
Json pod(const std::string& name, std::pair<std::string, std::string> annotation,
         const std::string& started, const std::string& ended = "",
         const std::string& phase = "Succeeded") {
  const Json container{{"name", "c"}, {"resources", {{"requests", {{"nvidia.com/gpu", "4"}}}}}};
  Json made{
      {"metadata", {{"name", name}, {"annotations", {{annotation.first, annotation.second}}}}},
      {"spec", {{"containers", {container}}}},
      {"status", {{"phase", started.empty() ? "Pending" : "Running"}}}};
  if (!started.empty()) made["status"]["startTime"] = "2026-11-01T" + started + "Z";
  if (ended.empty()) return made;
  made["status"]["phase"] = phase;
  made["status"]["containerStatuses"] = {
      {{"name", "c"}, {"state", {{"terminated", {{"finishedAt", "2026-11-01T" + ended + "Z"}}}}}}};
  return made;
}

class PodGroupsTest : public testing::Test {
 protected:
  static constexpr const char* kVolcano = "/apis/scheduling.volcano.sh/v1beta1";
  static constexpr const char* kKai = "/apis/scheduling.run.ai";
  static constexpr const char* kPods = "/api/v1/namespaces/a/pods";

  void SetUp() override {
    server_.versions = {};
    server_.date = "Sun, 01 Nov 2026 12:00:00 GMT";
    server_.create("/api/v1/nodes", node("gpu-1", 8));
    server_.create("/api/v1/nodes", node("gpu-2", 8));
  }
  void add_volcano() {
    server_.other_groups = {"scheduling.volcano.sh"};
    server_.create(std::string(kVolcano) + "/queues", {{"metadata", {{"name", "idle"}}}});
    const std::string groups = std::string(kVolcano) + "/namespaces/a/podgroups";
    server_.create(groups, pod_group("waits", "research", 2, "Pending"));
    for (const auto& [name, phase] :
         {std::pair("runs", "Running"), std::pair("half", "Inqueue"),
          std::pair("done", "Completed"), std::pair("gone", "Completed"),
          std::pair("torn", "Completed")}) {
      server_.create(groups, pod_group(name, "research", 2, phase));
    }
    const auto of = [](const char* group) {
      return std::pair<std::string, std::string>("scheduling.k8s.io/group-name", group);
    };
    server_.create(kPods, pod("runs-0", of("runs"), "10:00:00"));
    server_.create(kPods, pod("runs-1", of("runs"), "10:05:00"));
    server_.create(kPods, pod("half-0", of("half"), "10:00:00"));
    server_.create(kPods, pod("half-1", of("half"), ""));
    server_.create(kPods, pod("done-0", of("done"), "10:00:00", "11:00:00"));
    server_.create(kPods, pod("done-1", of("done"), "10:02:00", "11:12:00", "Failed"));
    server_.create(kPods, pod("torn-0", of("torn"), "10:00:00", "11:00:00"));  // torn-1 is gone
    server_.create(kPods, pod("other", {"team", "x"}, "10:00:00"));
  }
  Client client() { return Client::to({.server = server_.url()}).value(); }

  ApiServer server_;
};

TEST_F(PodGroupsTest, GangsOfVolcanoAreWorkloads) {
  add_volcano();
  Client asked = client();
  const auto picture = take_picture_of_any(asked);
  ASSERT_TRUE(picture) << to_string(picture.error());
  EXPECT_STREQ(picture->scheduler, "Volcano");
  std::map<std::string, const Workload*> by_name;
  for (const Workload& each : picture->workloads) by_name[each.name] = &each;
  ASSERT_THAT(by_name, SizeIs(4));
  EXPECT_EQ(by_name["waits"]->stage, Stage::pending);
  EXPECT_EQ(by_name["waits"]->gpus(), 8) << "minResources";
  EXPECT_EQ(by_name["half"]->stage, Stage::pending) << "one of two pods has started";
  EXPECT_EQ(by_name["runs"]->stage, Stage::admitted);
  EXPECT_EQ(by_name["runs"]->gpus(), 8);
  EXPECT_EQ(by_name["runs"]->admitted - by_name["runs"]->created, 65min);
  EXPECT_EQ(by_name["done"]->stage, Stage::finished);
  EXPECT_EQ(by_name["done"]->finished - by_name["done"]->admitted, 70min);
  EXPECT_TRUE(by_name["done"]->has_failed);
  EXPECT_THAT(picture->notes, Contains(HasSubstr("2 PodGroups are left out: they ran")));
  EXPECT_THAT(picture->nodes, SizeIs(2));
}

TEST_F(PodGroupsTest, TheirRunsAreAJobLog) {
  add_volcano();
  Client asked = client();
  const Picture picture = take_picture_of_any(asked).value();
  const trace::Trace log = log_of(picture);
  ASSERT_THAT(log.jobs, SizeIs(4));
  for (const trace::Job& job : log.jobs) {
    EXPECT_EQ(log.names[job.request.vc], "research");
    EXPECT_EQ(job.request.gpus, 8);
    if (log.id(job.id) != "a/done") continue;
    EXPECT_EQ(job.outcome.run, 70min);
    EXPECT_EQ(job.outcome.state, trace::JobState::failed);
  }
}

TEST_F(PodGroupsTest, GangsOfKaiAreWorkloads) {
  server_.other_groups = {"scheduling.run.ai"};
  server_.create(std::string(kKai) + "/v2/queues", {{"metadata", {{"name", "team"}}}});
  Json group = pod_group("pg-train", "team", 1, "");
  group["spec"].erase("minResources");
  group.erase("status");
  server_.create(std::string(kKai) + "/v2alpha2/namespaces/a/podgroups", group);
  server_.create(kPods, pod("train", {"pod-group-name", "pg-train"}, "09:30:00"));
  Client asked = client();
  const auto picture = take_picture_of_any(asked);
  ASSERT_TRUE(picture) << to_string(picture.error());
  EXPECT_STREQ(picture->scheduler, "KAI");
  ASSERT_THAT(picture->workloads, SizeIs(1));
  EXPECT_EQ(picture->workloads[0].gpus(), 4);
  EXPECT_EQ(picture->workloads[0].admitted - picture->workloads[0].created, 30min);
}

// A scheduler that sets no phase says only by the pods whether a gang waits.
TEST_F(PodGroupsTest, GangsWithoutAPhaseAreWhatTheirPodsSay) {
  server_.other_groups = {"scheduling.run.ai"};
  for (const char* const name : {"waits", "torn", "gone"}) {
    Json group = pod_group(name, "team", 2, "");
    group.erase("status");
    server_.create(std::string(kKai) + "/v2alpha2/namespaces/a/podgroups", group);
  }
  server_.create(kPods, pod("waits-0", {"pod-group-name", "waits"}, ""));
  server_.create(kPods, pod("torn-0", {"pod-group-name", "torn"}, "09:30:00", "10:00:00"));
  Client asked = client();
  const auto picture = take_picture_of_any(asked);
  ASSERT_TRUE(picture) << to_string(picture.error());
  ASSERT_THAT(picture->workloads, SizeIs(1));
  EXPECT_EQ(picture->workloads[0].name, "waits");
  EXPECT_EQ(picture->workloads[0].stage, Stage::pending);
  EXPECT_THAT(picture->notes, Contains("2 PodGroups are left out: they have no phase, and no pods "
                                       "that say whether they wait or ran"));
}

TEST_F(PodGroupsTest, TheDoctorSaysWhyThereIsNoLever) {
  add_volcano();
  Client asked = client();
  const auto said = diagnose(asked);
  ASSERT_TRUE(said) << to_string(said.error());
  std::vector<std::string> volcano;
  for (const Finding& each : said->findings) {
    if (each.what == "Volcano") volcano = {each.found, each.means};
  }
  EXPECT_THAT(volcano,
              ElementsAre("4 PodGroups in 2 queues",
                          HasSubstr("no lever: Volcano looks the order of a PodGroup up by "
                                    "the name of a PriorityClass")));
  EXPECT_EQ(said->of(Feature::order), Verdict::broken);
  EXPECT_NE(said->of(Feature::advice), Verdict::broken);
}

TEST_F(PodGroupsTest, AClusterWithoutEitherIsRefused) {
  Client asked = client();
  const auto picture = take_picture_of_any(asked);
  ASSERT_FALSE(picture);
  EXPECT_THAT(picture.error().message, HasSubstr("this cluster has no Kueue"));
}

}  // namespace
}  // namespace almanac::kube
