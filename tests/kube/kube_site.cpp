// SPDX-License-Identifier: Apache-2.0

/// \file
/// kube_site KUBECONFIG: a Kubernetes cluster with Kueue for the tour, as long as its shell lives.
/// Writes the kubeconfig when it answers.
///
/// Two teams share four nodes of 8 GPUs by halves. Every 24 hours, the last time four hours ago,
/// one submits four jobs of ten hours and then eight of one hour, the other six of two hours, all
/// of 4 GPUs. It is the 21st day.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "objects.h"

namespace almanac::kube {
namespace {

const std::time_t kNow = std::time(nullptr);
constexpr std::time_t kHour = 3600;
constexpr int kDays = 21;
constexpr int kGpus = 4;           // of a job
constexpr std::size_t kSlots = 4;  // jobs that the quota of a team holds

std::string stamp(std::time_t at) { return fmt::format("{:%FT%TZ}", fmt::gmtime(at)); }

/// The workloads of one team, admitted first come, first served.
class Team {
 public:
  Team(ApiServer& server, std::string name) : server_(server), name_(std::move(name)) {
    server.create(kKueueApi + "/clusterqueues", cluster_queue(name_, kGpus * int{kSlots}));
    server.create(in_namespace(name_, "localqueues"), local_queue("main", name_));
  }

  void submit(const std::string& job, std::time_t at, std::time_t run) {
    std::time_t& free = *std::min_element(free_.begin(), free_.end());
    const std::time_t start = std::max(at, free);
    free = start + run;
    Json made = workload(job, "main", kGpus);
    made["metadata"]["creationTimestamp"] = stamp(at);
    const std::string all = in_namespace(name_, "workloads");
    server_.create(all, made);
    server_.patch(all + "/" + job, state(start, free));
  }

 private:
  Json state(std::time_t start, std::time_t end) const {
    if (end <= kNow) return finished(name_, kGpus, stamp(start), stamp(end));
    if (start <= kNow) return admitted(name_, kGpus, stamp(start));
    Json waits = condition("QuotaReserved", stamp(kNow - 4 * kHour), "Pending", "False");
    waits["message"] =
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
        "flavor default, 4 more needed";
    return {{"status", {{"conditions", {waits}}}}};
  }

  ApiServer& server_;
  std::string name_;
  std::array<std::time_t, kSlots> free_{};
};

void fill(ApiServer& server) {
  server.date = fmt::format("{:%a, %d %b %Y %T GMT}", fmt::gmtime(kNow));
  server.create("/api/v1/namespaces", {{"metadata", {{"name", "kube-system"}, {"uid", "site"}}},
                                       {"spec", Json::object()}});
  const std::string kueue = "/namespaces/kueue-system";
  server.create("/api/v1" + kueue + "/configmaps",
                {{"metadata", {{"name", "kueue-manager-config"}}},
                 {"data", {{"controller_manager_config.yaml", "fairSharing: {enable: false}\n"}}}});
  server.create("/apis/apps/v1" + kueue + "/deployments",
                {{"metadata", {{"name", "kueue-controller-manager"}}},
                 {"spec", pods_of("registry.k8s.io/kueue/kueue:v0.16.3")}});
  server.create(kKueueApi + "/resourceflavors", flavor("default"));
  for (int at = 1; at <= 4; ++at) {
    server.create("/api/v1/nodes", node(fmt::format("gpu-{}", at), 8));
  }
  Team vision(server, "vision");
  Team nlp(server, "nlp");
  for (int day = 1; day <= kDays; ++day) {
    const std::time_t morning = kNow - 4 * kHour - (kDays - day) * 24 * kHour;
    for (int job = 1; job <= 12; ++job) {
      const bool is_long = job <= 4;
      vision.submit(fmt::format("{}-day{}-{}", is_long ? "pretrain" : "finetune", day, job),
                    morning + job, (is_long ? 10 : 1) * kHour);
    }
    for (int job = 1; job <= 6; ++job) {
      nlp.submit(fmt::format("evaluate-day{}-{}", day, job), morning + job, 2 * kHour);
    }
  }
}

}  // namespace
}  // namespace almanac::kube

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("kube_site: give the kubeconfig to write\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the shell of the tour
  almanac::kube::ApiServer server;
  almanac::kube::fill(server);
  std::ofstream(argv[1]) << "current-context: site\n"
                         << "contexts: [{name: site, context: {cluster: site}}]\n"
                         << "clusters: [{name: site, cluster: {server: \"" << server.url()
                         << "\"}}]\n";
  ::pause();
}
