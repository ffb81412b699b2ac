// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tour of a platform engineer with a kubeconfig: doctor, status, queue, explain, snapshot,
/// simulation and advice, without a write to the cluster.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "objects.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac::kube {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class KubeCommand : public testing::Test {
 protected:
  void SetUp() override {
    server_.date = "Sun, 01 Nov 2026 12:00:00 GMT";
    make_cluster(server_);
    const std::string all = in_namespace("a", "workloads");
    for (int at = 0; at < 20; ++at) {
      const std::string name = fmt::format("past-{:02}", at);
      server_.create(all, workload(name, "main", 4));
      server_.patch(all + "/" + name,
                    finished("team-a", 4, fmt::format("2026-11-01T{:02}:00:00Z", at / 2),
                             fmt::format("2026-11-01T{:02}:00:00Z", at / 2 + 2)));
    }
    run("a", "big", 8);
    run("b", "other", 3);
    server_.create(all, workload("waits", "main", 8));
    server_.patch(
        all + "/waits",
        {{"status",
          {{"conditions",
            {condition("QuotaReserved", "2026-11-01T11:00:00Z", "WaitingForQuota", "False")}}}}});
    config_ = folder_.write("config",
                            fmt::format("current-context: test\n"
                                        "contexts: [{{name: test, context: {{cluster: c}}}}]\n"
                                        "clusters: [{{name: c, cluster: {{server: \"{}\"}}}}]\n",
                                        server_.url()));
  }
  void run(const std::string& team, const std::string& name, int gpus) {
    const std::string all = in_namespace(team, "workloads");
    server_.create(all, workload(name, "main", gpus));
    server_.patch(all + "/" + name, admitted("team-" + team, gpus, "2026-11-01T11:00:00Z"));
  }
  ProgramRun kube(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "kube");
    arguments.insert(arguments.end(), {"--kubeconfig", config_});
    return run_program(arguments);
  }

  ApiServer server_;
  TemporaryFolder folder_;
  std::string config_;
};

TEST_F(KubeCommand, TourWithoutAWrite) {
  const ProgramRun doctor = kube({"doctor"});
  EXPECT_EQ(doctor.status, 0) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("Kubernetes v1.20.2, Kueue's API v1beta2 (context test of"));
  EXPECT_THAT(doctor.out, HasSubstr("right: patch workloads = yes"));

  const ProgramRun status = kube({"status", "-o", "csv"});
  // A busy machine may take some seconds for the answer.
  EXPECT_THAT(status.out,
              MatchesRegex("queue,cohort,pending,reserved,admitted,gpus,nominal_gpus,borrowed_gpus,"
                           "pending_gpus,longest_wait_s,strategy,stopped\n"
                           "team-a,research,1,0,1,8,8,0,8,432[0-9]+,BestEffortFIFO,false\n"
                           "team-b,research,0,0,1,3,8,0,0,,BestEffortFIFO,false\n"));

  const ProgramRun queue = kube({"queue", "-o", "wide"});
  EXPECT_THAT(queue.out, AllOf(HasSubstr("a/waits"), HasSubstr("WaitingForQuota")));

  // All runs took two hours, so the run of 8 GPUs that began at 11:00 ends at 13:00.
  const ProgramRun why = kube({"explain", "a/waits", "-o", "json"});
  ASSERT_EQ(why.status, 0) << why.err;
  const Json explained = Json::parse(why.out);
  EXPECT_EQ(explained["shortages"][0]["holder"], "cohort research");
  EXPECT_EQ(explained["shortages"][0]["left"], 5);
  EXPECT_EQ(explained["start_by_s"], 1793491200 + 13 * 3600);
  EXPECT_THAT(
      kube({"explain", "a/waits"}).out,
      HasSubstr("needs 8 nvidia.com/gpu, 5 left: the queues of cohort research use 11 of the "
                "16 that they share"));

  const std::string site = folder_ / "site";
  const ProgramRun snapshot = kube({"snapshot", "--out", site});
  EXPECT_EQ(snapshot.status, 0) << snapshot.err;
  EXPECT_THAT(snapshot.out, HasSubstr("queues.json, jobs.csv, cluster.toml"));
  const std::vector<std::string> files{"--queues", site + "/queues.json", "--cluster",
                                       site + "/cluster.toml"};
  std::vector<std::string> simulate{"simulate", site + "/jobs.csv", "--policy", "kueue"};
  simulate.insert(simulate.end(), files.begin(), files.end());
  const ProgramRun simulated = run_program(simulate);
  EXPECT_EQ(simulated.status, 0) << simulated.err;

  // With its workloads as the log, and with a recorded one; both with the queues as they are now.
  const std::vector<std::string> change{
      "--kube", "--kubeconfig", config_, "--what-if", "team-a.nominalQuota=16", "-o", "json"};
  for (const std::string& log : {std::string(), site + "/jobs.csv"}) {
    std::vector<std::string> advise{"advise"};
    if (!log.empty()) advise.push_back(log);
    advise.insert(advise.end(), change.begin(), change.end());
    const ProgramRun advised = run_program(advise);
    ASSERT_EQ(advised.status, 0) << advised.err;
    EXPECT_EQ(Json::parse(advised.out)["changed"][0]["to"], "16") << advised.out;
  }

  EXPECT_THAT(server_.asked(),
              Each(AnyOf(HasSubstr("limit="), HasSubstr("/version"), HasSubstr("/apis/"),
                         HasSubstr("/api/v1/namespaces/kueue-system/"))));
}

TEST_F(KubeCommand, TheDoctorAsksForEachRight) {
  server_.set_tokens({{"x", "admin"}});
  server_.set_rights([](const auto&, const std::string& verb, const std::string& resource) {
    return verb != "patch" && resource != "nodes" && verb != "update" &&
           (verb != "watch" || resource != "clusterqueues");
  });
  const ProgramRun doctor = kube({"doctor", "--lease-namespace", "ops"});
  EXPECT_THAT(doctor.out, HasSubstr("right: list workloads = yes"));
  EXPECT_THAT(doctor.out, HasSubstr("right: patch workloads = no"));
  EXPECT_THAT(doctor.out, HasSubstr("-> grant list on nodes in all namespaces"));
  EXPECT_THAT(doctor.out, HasSubstr("right: get namespaces = yes"));
  EXPECT_THAT(doctor.out,
              HasSubstr("-> grant watch on clusterqueues.kueue.x-k8s.io in all namespaces"));
  EXPECT_THAT(doctor.out,
              HasSubstr("-> grant update on leases.coordination.k8s.io in namespace ops"));
}

TEST_F(KubeCommand, TheDoctorSaysWhyAnOrderWouldNotBeSafe) {
  EXPECT_THAT(kube({"doctor"}).out,
              HasSubstr("queue team-a: an order would overtake queue team-b"));
  Json preempting = cluster_queue("team-c", 4, "research");
  preempting["spec"]["preemption"] = {{"withinClusterQueue", "LowerPriority"}};
  server_.create(kKueueApi + "/clusterqueues", preempting);
  server_.other_groups = {"scheduling.volcano.sh"};
  const ProgramRun doctor = kube({"doctor"});
  EXPECT_THAT(doctor.out,
              HasSubstr("queue team-a: an order could evict running workloads: withinClusterQueue "
                        "preempts in queue team-c"));
  EXPECT_THAT(doctor.out, HasSubstr("Volcano = 0 PodGroups in 0 queues: read by kube snapshot"));
  EXPECT_THAT(doctor.out, HasSubstr("no lever: Volcano looks the order of a PodGroup up by"));
}

TEST_F(KubeCommand, AdviceOnPodGroupsHasNoFairSharing) {
  server_.versions = {};
  server_.other_groups = {"scheduling.volcano.sh"};
  const ProgramRun refused = run_program({"advise", "--kube", "--fair", "--kubeconfig", config_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "almanac: --fair is Kueue's fair sharing, and this cluster has Volcano instead\n");
}

TEST_F(KubeCommand, SaysWhatIsWrongInOneLine) {
  const ProgramRun lost = kube({"explain", "a/wait"});
  EXPECT_NE(lost.status, 0);
  EXPECT_EQ(lost.err, "almanac: no workload is called a/wait (did you mean a/waits?)\n");
  std::ofstream(folder_ / "log") << "a,b\n1,2\n";
  const ProgramRun logged = kube({"queue", "--log", folder_ / "log"});
  EXPECT_THAT(logged.err, HasSubstr("expected a job log of almanac kube record"));
  EXPECT_THAT(logged.err, Not(HasSubstr("--columns")));
  server_.versions = {};
  const ProgramRun status = kube({"status"});
  EXPECT_THAT(status.err, HasSubstr("this cluster has no Kueue"));
  EXPECT_EQ(std::count(status.err.begin(), status.err.end(), '\n'), 1);
  EXPECT_EQ(kube({"doctor"}).status, 1);
  EXPECT_EQ(run_program({"kube", "status", "--kubeconfig", folder_ / "none"}).status, 66);
  const ProgramRun both = kube({"status", "--server", server_.url()});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--server names an API server without a kubeconfig"));
  const ProgramRun lease = kube({"doctor", "--lease-namespace", "BAD NAME/../x"});
  EXPECT_EQ(lease.status, 2);
  EXPECT_THAT(lease.err, HasSubstr("--lease-namespace must be a Kubernetes name"));
}

TEST_F(KubeCommand, ManyObjectsThatCannotBeReadAreAFewNotes) {
  for (int at = 0; at < 9; ++at) {
    Json odd = workload(fmt::format("odd-{}", at), "main", 1);
    odd["spec"]["maximumExecutionTimeSeconds"] = "soon";
    server_.create(in_namespace("b", "workloads"), odd);
  }
  const ProgramRun explained = kube({"explain", "a/waits"});
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_THAT(explained.err, HasSubstr("7 more notes of this kind"));
  EXPECT_LE(std::count(explained.err.begin(), explained.err.end(), '\n'), 4);
}

// The configuration that Kueue installs has fair sharing in a comment.
TEST_F(KubeCommand, TheDoctorReadsKueuesConfiguration) {
  const auto configure = [&](const std::string& yaml, const std::string& image) {
    const std::string space = "/namespaces/kueue-system";
    server_.create("/api/v1" + space + "/configmaps",
                   {{"metadata", {{"name", "kueue-manager-config"}}},
                    {"data", {{"controller_manager_config.yaml", yaml}}}});
    server_.create("/apis/apps/v1" + space + "/deployments",
                   {{"metadata", {{"name", "kueue-controller-manager"}}},
                    {"spec", pods_of("registry.k8s.io/kueue/kueue:" + image)}});
    return kube({"doctor"}).out;
  };
  const std::string stock = configure("#fairSharing:\n#  enable: true\n", "v0.15.1");
  EXPECT_THAT(stock, HasSubstr("fair sharing off, PriorityBoost off"));
  EXPECT_THAT(stock, HasSubstr("partly    Kueue's release = v0.15.1: releases before"));
  const std::string off = configure("fairSharing: {enable: false}\n", "v0.15.6");
  EXPECT_THAT(off, HasSubstr("fair sharing off"));
  EXPECT_THAT(off, HasSubstr("ok        Kueue's release = v0.15.6"));
  const std::string on = configure(
      "fairSharing: {preemptionStrategies: []}\nfeatureGates: {PriorityBoost: true}\n", "v0.16.2");
  EXPECT_THAT(on, HasSubstr("fair sharing on, PriorityBoost on"));
  EXPECT_THAT(on, HasSubstr("partly    Kueue's release = v0.16.2"));
}

// A user's own mistake is not the cluster's lack of Kueue.
TEST_F(KubeCommand, SaysThatThePluginIsMissing) {
  const std::string config = folder_.write(
      "plugin",
      fmt::format("current-context: a\ncontexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n"
                  "clusters: [{{name: c, cluster: {{server: \"{}\"}}}}]\n"
                  "users: [{{name: u, user: {{exec: {{apiVersion: v1, command: "
                  "no-such-plugin}}}}}}]\n",
                  server_.url()));
  const ProgramRun status = run_program({"kube", "status", "--kubeconfig", config});
  EXPECT_THAT(status.err, AllOf(HasSubstr("the credential plugin no-such-plugin"),
                                testing::Not(HasSubstr("Kueue"))));
}

TEST_F(KubeCommand, KeepsTheReasonInANarrowTable) {
  server_.create(in_namespace("b", "workloads"), workload("huge", "main", 640));
  ::setenv("COLUMNS", "100", 1);
  const ProgramRun queue = kube({"queue"});
  ::unsetenv("COLUMNS");
  EXPECT_THAT(queue.out, AllOf(HasSubstr("REASON"), HasSubstr("flavor default: needs 640"),
                               HasSubstr("  never  ")));
}

// A queue that is named by mistake would wait several times as long.
TEST_F(KubeCommand, BackfillIsRefusedWithoutNamesOrWithoutAnOrder) {
  const auto serve = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"serve",       "--engine", "kubernetes",     "--server",
                                   server_.url(), "--state",  folder_ / "state"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const ProgramRun empty = serve({"--order", "on", "--backfill", "team-a,,team-b"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("found \"\" in \"team-a,,team-b\""));
  for (const auto& order : std::vector<std::vector<std::string>>{{}, {"--order", "off"}}) {
    std::vector<std::string> words{"--backfill", "team-a"};
    words.insert(words.end(), order.begin(), order.end());
    const ProgramRun unordered = serve(words);
    EXPECT_EQ(unordered.status, 2);
    EXPECT_THAT(unordered.err, HasSubstr("--backfill requires --order on or dry"));
  }
}

}  // namespace
}  // namespace almanac::kube
