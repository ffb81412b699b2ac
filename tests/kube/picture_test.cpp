// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Almanac reads of a cluster, in both versions of Kueue's API, and what it writes down of it.
#include "kube/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/read_objects.h"
#include "kube/snapshot.h"
#include "objects.h"
#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::kube {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

Picture picture_of(const ApiServer& server) {
  Client client = Client::to({.server = server.url()}).value();
  auto taken = take_picture(client, "team/user");
  EXPECT_TRUE(taken) << to_string(taken.error());
  return taken.value_or(Picture{});
}

TEST(Picture, ReadsQueuesWorkloadsAndNodes) {
  ApiServer server;
  make_cluster(server);
  server.create(in_namespace("a", "workloads"), workload("train", "main", 2, 3));
  server.patch(in_namespace("a", "workloads") + "/train",
               admitted("team-a", 2, "2026-11-01T00:10:00Z", 3));
  const Picture picture = picture_of(server);
  EXPECT_EQ(picture.version, "v1beta2");
  EXPECT_THAT(picture.objects.setup.queues, SizeIs(2));
  EXPECT_EQ(picture.nodes[0].gpus(), 8);
  ASSERT_THAT(picture.workloads, SizeIs(1));
  const Workload& train = picture.workloads[0];
  EXPECT_EQ(train.full_name(), "a/train");
  EXPECT_EQ(train.stage, Stage::admitted);
  EXPECT_EQ(train.gpus(), 6);
  EXPECT_EQ(picture.cluster_queue(train), "team-a");
  EXPECT_THAT(picture.notes, testing::IsEmpty());
}

TEST(Picture, ReadsTheOlderVersionToo) {
  ApiServer server;
  server.versions = {"v1beta1"};
  const std::string api = "/apis/kueue.x-k8s.io/v1beta1";
  server.create(api + "/resourceflavors", flavor("default"));
  Json queue = cluster_queue("team-a", 8);
  queue["spec"]["cohort"] = "research";
  server.create(api + "/clusterqueues", queue);
  server.create(api + "/namespaces/a/localqueues", local_queue("main", "team-a"));
  Json old = workload("train", "main", 2);
  old["spec"]["priorityClassName"] = "high";
  old["spec"]["priorityClassSource"] = "kueue.x-k8s.io/workloadpriorityclass";
  old["status"]["accumulatedPastExexcutionTimeSeconds"] = 60;
  server.create(api + "/namespaces/a/workloads", old);
  const Picture picture = picture_of(server);
  EXPECT_EQ(picture.version, "v1beta1");
  EXPECT_EQ(picture.objects.setup.queues[0].cohort, "research");
  EXPECT_EQ(picture.workloads[0].priority_class, "high");
  EXPECT_TRUE(picture.workloads[0].is_of_kueue_class);
  EXPECT_EQ(picture.workloads[0].earlier, 60s);
}

TEST(Picture, SaysWhatAClusterLacks) {
  ApiServer server;
  server.versions = {};
  Client client = Client::to({.server = server.url()}).value();
  EXPECT_THAT(to_string(take_picture(client).error()), HasSubstr("this cluster has no Kueue"));
  server.versions = {"v2"};
  EXPECT_THAT(
      to_string(take_picture(client).error()),
      HasSubstr("Kueue's API has the versions v2, and Almanac reads v1beta2, v1beta1 (use a "
                "later release of Almanac)"));
  server.versions = {"v1alpha2"};
  EXPECT_THAT(to_string(take_picture(client).error()), HasSubstr("(use Kueue 0.6 or later)"));
}

// A reader without the right to list nodes learns all but them.
TEST(Picture, DoesWithoutNodes) {
  ApiServer server;
  make_cluster(server);
  server.set_tokens({{"unused", "admin"}});
  server.set_rights(
      [](const auto&, const auto&, const std::string& resource) { return resource != "nodes"; });
  const Picture picture = picture_of(server);
  EXPECT_THAT(picture.objects.setup.queues, SizeIs(2));
  EXPECT_THAT(picture.notes, Contains(HasSubstr("nodes are unknown")));
}

TEST(Picture, KeepsTheOthersIfOneWorkloadIsBroken) {
  ApiServer server;
  make_cluster(server);
  Json broken = workload("broken", "main", 1);
  broken["spec"]["podSets"][0]["count"] = "four";
  server.create(in_namespace("a", "workloads"), broken);
  server.create(in_namespace("a", "workloads"), workload("good", "main", 1));
  const Picture picture = picture_of(server);
  EXPECT_THAT(picture.workloads, SizeIs(1));
  EXPECT_THAT(picture.notes, Contains("left out: Workload a/broken.spec.podSets[0].count: expected "
                                      "a whole number"));
}

// Annotations, labels and messages are what users wrote.
TEST(Picture, TakesHostileTextAsData) {
  ApiServer server;
  make_cluster(server);
  Json evil = workload("evil", "main", 1);
  evil["metadata"]["labels"] = {{"team/user", "\x1b[2Jbob\nroot,\"x\""}};
  evil["metadata"]["annotations"] = {{"kueue.x-k8s.io/priority-boost", "9e99; rm -rf /"}};
  evil["spec"]["priority"] = 9223372036854775807;
  evil["status"] = {{"conditions",
                     {condition("QuotaReserved", "2026-11-01T00:00:00Z",
                                std::string(9000, 'x') + "\r\n", "False")}}};
  server.create(in_namespace("a", "workloads"), evil);
  const Picture picture = picture_of(server);
  ASSERT_THAT(picture.workloads, SizeIs(1));
  const Workload& read = picture.workloads[0];
  EXPECT_EQ(read.user, " [2Jbob root,\"x\"");
  EXPECT_FALSE(read.boost);
  EXPECT_THAT(read.message, SizeIs(500));
  const TemporaryFolder folder;
  ASSERT_TRUE(write_snapshot(picture, folder / "site"));
  const auto log = trace::read_trace(folder / "site/jobs.csv", {});
  ASSERT_TRUE(log) << to_string(log.error());
  EXPECT_EQ(log->names[log->jobs[0].request.user], " [2Jbob root,\"x\"");
}

// Names of queues, flavors and labels too.
TEST(Picture, KeepsNoControlCharacterOfAnyObject) {
  ApiServer server;
  make_cluster(server);
  server.create(kKueueApi + "/clusterqueues", cluster_queue("q\x1b[31m\n", 4));
  Json three = node("three", 4);
  three["metadata"]["labels"]["nvidia.com/gpu.product"] = "x\"\n[[vc]]\xc2\x9b";
  server.create("/api/v1/nodes", three);
  const Picture picture = picture_of(server);
  EXPECT_TRUE(picture.queue_at("q [31m "));
  EXPECT_THAT(cluster_toml(picture), HasSubstr("gpu_type = \"x\\\" [[vc]] \"\n"));
}

// Requests are the containers' sum, or an init container that needs more; limits fill in.
TEST(ReadWorkload, CountsAPodAsKubernetesDoes) {
  Json object = workload("w", "main", 1, 2);
  Json& spec = object["spec"]["podSets"][0]["template"]["spec"];
  spec["containers"] = {{{"resources", {{"requests", {{"cpu", "1500m"}}}}}},
                        {{"resources", {{"limits", {{"cpu", 1}, {"nvidia.com/gpu", 1}}}}}}};
  spec["initContainers"] = {
      {{"restartPolicy", "Always"}, {"resources", {{"requests", {{"cpu", "500m"}}}}}},
      {{"resources", {{"requests", {{"cpu", "4"}}}}}}};
  spec["overhead"] = {{"cpu", "100m"}};
  object["metadata"]["namespace"] = "a";
  const auto read = read_workload(object);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->pod_sets[0].pods.requests.at("cpu"), 4600);
  EXPECT_EQ(read->total("cpu"), 9200);
  EXPECT_EQ(read->gpus(), 2);
}

TEST(ReadWorkload, CountsNoMoreThanAnAmountHolds) {
  Json object = workload("w", "main", 1, 2'000'000'000);
  object["metadata"]["namespace"] = "a";
  object["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = {
      {"nvidia.com/gpu", "9T"}};
  const auto read = read_workload(object);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->gpus(), kueue::kMostAmount);
}

TEST(ReadWorkload, BelievesWhatTheQueueCounted) {
  Json object = workload("w", "main", 1, 2);
  object["metadata"]["namespace"] = "a";
  object["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]
        ["cpu"] = 4;
  object["status"] = {
      {"resourceRequests", {{{"name", "main"}, {"resources", {{"nvidia.com/gpu", 2}}}}}}};
  const auto read = read_workload(object);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->uncounted, testing::ElementsAre("cpu"));
  EXPECT_EQ(read->total("cpu"), 0);
  EXPECT_EQ(read->gpus(), 2);
}

TEST(Picture, SaysWhatItDoesNotCount) {
  ApiServer server;
  make_cluster(server);
  Json instance = workload("mig", "main", 0);
  Json& container = instance["spec"]["podSets"][0]["template"]["spec"]["containers"][0];
  container["resources"]["requests"] = {{"nvidia.com/mig-1g.10gb", 2}};
  server.create(in_namespace("a", "workloads"), instance);
  Json part = workload("part", "main", 0);
  part["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = {
      {"nvidia.com/gpu", "500m"}};
  server.create(in_namespace("a", "workloads"), part);
  server.create("/api/v1/nodes", node("tpu", 0));
  server.patch("/api/v1/nodes/tpu", {{"status", {{"allocatable", {{"google.com/tpu", "4"}}}}}});
  const Picture picture = picture_of(server);
  EXPECT_THAT(picture.workloads, SizeIs(1));
  EXPECT_THAT(picture.notes,
              testing::UnorderedElementsAre(
                  HasSubstr("nvidia.com/gpu: expected whole GPUs, found a fraction"),
                  "not counted as GPUs: google.com/tpu, nvidia.com/mig-1g.10gb (only whole GPUs "
                  "are, such as nvidia.com/gpu)"));
}

TEST(Picture, ShowsNoNegativeWait) {
  Picture picture;
  picture.at = Time{1h};
  EXPECT_EQ(picture.waited({.created = Time{2h}}), 0s);
  EXPECT_EQ(picture.waited({.created = Time{15min}}), 45min);
}

TEST(Snapshot, NotesWhatItLeavesOutOrCuts) {
  ApiServer server;
  make_cluster(server);
  const std::string all = in_namespace("a", "workloads");
  server.create(all, workload("pods", "main", 1, 1'000'000'000));
  Json urgent = workload("urgent", "main", 1);
  urgent["spec"]["priority"] = std::int64_t{1} << 40;
  server.create(all, urgent);
  server.create(all, workload("lost", "nowhere", 1));
  server.create(all, workload("runs", "main", 2));
  server.patch(all + "/runs", admitted("team-a", 2, "2026-11-01T00:10:00Z"));
  const trace::Trace log = log_of(picture_of(server));
  EXPECT_THAT(log.jobs, SizeIs(2));
  EXPECT_THAT(
      log.notes,
      testing::ElementsAre(
          "a/pods is left out: it requests 1000000000 GPUs, more than any cluster",
          "1 workload is left out, such as a/lost: the queue does not exist",
          "1 workload is running: a simulation ends each after the time that it has run so far",
          "1 workload has a priority beyond 1,000,000, which is cut to this bound"));
}

TEST(Snapshot, WritesFilesThatSimulationsRead) {
  ApiServer server;
  server.create(kKueueApi + "/resourceflavors", flavor("gpu-h100", {{"gpu", "h100"}}));
  server.create(kKueueApi + "/resourceflavors", flavor("gpu-a100", {{"gpu", "a100"}}));
  server.create(kKueueApi + "/clusterqueues",
                cluster_queue("team-a", 8, "", Json::object(), "gpu-h100"));
  server.create(in_namespace("a", "localqueues"), local_queue("main", "team-a"));
  server.create("/api/v1/nodes", node("one", 8, {{"gpu", "h100"}}));
  server.create("/api/v1/nodes", node("two", 8, {{"gpu", "h100"}}));
  server.create("/api/v1/nodes", node("three", 4, {{"gpu", "a100"}}));
  const std::string all = in_namespace("a", "workloads");
  server.create(all, workload("done", "main", 4));
  server.patch(all + "/done",
               finished("team-a", 4, "2026-11-01T01:00:00Z", "2026-11-01T03:00:00Z", "Succeeded"));
  server.create(all, workload("waits", "main", 8));
  const Picture picture = picture_of(server);
  const trace::Trace log = log_of(picture);
  ASSERT_THAT(log.jobs, SizeIs(2));
  EXPECT_EQ(log.id(log.jobs[0].id), "a/done");
  EXPECT_EQ(log.jobs[0].outcome.run, 2h);
  EXPECT_EQ(log.jobs[0].outcome.start - log.jobs[0].request.submit, 1h);
  EXPECT_EQ(log.names[log.jobs[0].request.vc], "team-a");
  EXPECT_EQ(log.names[log.jobs[0].request.gpu_type], "gpu-h100");
  EXPECT_EQ(log.jobs[1].outcome.state, trace::JobState::pending);
  EXPECT_EQ(cluster_toml(picture),
            "# Nodes with GPUs that were ready, by almanac kube snapshot.\n"
            "takes_every_job = true\n\n[[vc]]\nname = \"cluster\"\n"
            "\n[[vc.group]]\nnodes = 1\ngpus = 4\ngpu_type = \"gpu-a100\"\ncpus = 128\n"
            "memory_gb = 1133\n"
            "\n[[vc.group]]\nnodes = 2\ngpus = 8\ngpu_type = \"gpu-h100\"\ncpus = 128\n"
            "memory_gb = 1133\n");
}

}  // namespace
}  // namespace almanac::kube
