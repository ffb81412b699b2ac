// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a large cluster costs the service of a Kubernetes cluster.
///
///   kube_bench [--workloads 10000] [--nodes 1000] [--queues 20] [--changes 20]
///
/// The API server of tests/kube runs in a process of its own, with workloads that wait and have the
/// size of real ones (7 KB). Prints the seconds until the first picture and until the first
/// decision, the time from a change at the server to the decision on it, and the largest memory of
/// the service's process, with the processor time that its process took for the picture.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kube/api_server.h"
#include "kube/objects.h"
#include "kube_replay/stepped_service.h"
#include "support/temporary_folder.h"

namespace almanac::replay {
namespace {

using kube::Json;
using Instant = std::chrono::steady_clock::time_point;

struct Options {
  int workloads = 10'000;
  int nodes = 1000;
  int queues = 20;
  int changes = 20;
};

double ms_since(Instant begun) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun)
      .count();
}

/// As Kueue makes it of a Job: its pods' template, conditions, and who wrote which field.
Json full_workload(int number, int queues) {
  Json made = kube::workload(fmt::format("job-train-{:05}-1a2b3", number), "main", 1 + number % 8);
  made["metadata"]["creationTimestamp"] =
      fmt::format("2026-11-01T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60);
  made["metadata"]["labels"] = {{"kueue.x-k8s.io/job-uid", fmt::format("{:036}", number)}};
  made["metadata"]["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                          {"kind", "Job"},
                                          {"name", fmt::format("train-{:05}", number)},
                                          {"uid", fmt::format("{:036}", number)},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}};
  made["spec"]["maximumExecutionTimeSeconds"] = 600 + number % 50'000;
  Json& spec = made["spec"]["podSets"][0]["template"]["spec"];
  Json& container = spec["containers"][0];
  container["image"] = "registry.example.org/team/train:2026-10-01";
  container["command"] = {"/bin/sh", "-c", std::string(400, 'x')};
  for (int at = 0; at < 20; ++at) {
    container["env"].push_back({{"name", fmt::format("SETTING_{:02}", at)},
                                {"value", fmt::format("value of setting {} of the job", at)}});
  }
  for (int at = 0; at < 4; ++at) {
    spec["volumes"].push_back(
        {{"name", fmt::format("volume-{}", at)},
         {"persistentVolumeClaim", {{"claimName", fmt::format("data-{}", at)}}}});
    container["volumeMounts"].push_back(
        {{"name", fmt::format("volume-{}", at)}, {"mountPath", fmt::format("/data/{}", at)}});
  }
  Json fields;
  for (int at = 0; at < 40; ++at) {
    fields["f:spec"]["f:podSets"][fmt::format("f:field-{:02}", at)]["f:value"] = Json::object();
  }
  made["metadata"]["managedFields"] = {{{"manager", "kueue"},
                                        {"operation", "Update"},
                                        {"apiVersion", "kueue.x-k8s.io/v1beta2"},
                                        {"time", "2026-11-01T00:00:00Z"},
                                        {"fieldsType", "FieldsV1"},
                                        {"fieldsV1", fields}}};
  made["status"]["conditions"] = {kube::condition(
      "QuotaReserved", "2026-11-01T00:00:00Z",
      "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu",
      "False")};
  made["metadata"]["namespace"] = fmt::format("team-{}", number % queues);
  return made;
}

void fill(kube::ApiServer& server, const Options& options) {
  server.create(kube::kKueueApi + "/resourceflavors", kube::flavor("default"));
  for (int at = 0; at < options.queues; ++at) {
    const std::string name = fmt::format("team-{}", at);
    server.create(kube::kKueueApi + "/clusterqueues", kube::cluster_queue(name, 8));
    server.create(kube::in_namespace(name, "localqueues"), kube::local_queue("main", name));
  }
  for (int at = 0; at < options.nodes; ++at) {
    server.create("/api/v1/nodes", kube::node(fmt::format("gpu-{:04}", at), 8));
  }
  for (int at = 0; at < options.workloads; ++at) {
    Json made = full_workload(at, options.queues);
    const std::string name_space = made["metadata"]["namespace"];
    server.create(kube::in_namespace(name_space, "workloads"), std::move(made));
  }
}

/// Serves until the pipe closes; each byte of it makes a workload.
[[noreturn]] void serve(const Options& options, int orders, int answers) {
  {
    kube::ApiServer server;
    fill(server, options);
    const std::string url = server.url() + "\n";
    if (::write(answers, url.data(), url.size()) < 0) ::_exit(1);
    char order = 0;
    for (int number = 80'000; ::read(orders, &order, 1) == 1; ++number) {
      server.create(kube::in_namespace("team-0", "workloads"),
                    full_workload(number / options.queues * options.queues, options.queues));
      number += options.queues - 1;
    }
  }
  ::_exit(0);
}

std::string read_line(int from) {
  std::string made;
  for (char byte = 0; ::read(from, &byte, 1) == 1 && byte != '\n';) made += byte;
  return made;
}

/// The largest memory so far, in MB.
double most_memory_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1000;
  }
  return 0;
}

int run(const Options& options) {
  int orders[2];
  int answers[2];
  if (::pipe(orders) != 0 || ::pipe(answers) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(orders[1]);
    serve(options, orders[0], answers[1]);
  }
  const std::string url = read_line(answers[0]);
  const TemporaryFolder folder;
  const auto connect = [url] { return kube::Client::to({.server = url, .from = url}); };
  const Instant begun = std::chrono::steady_clock::now();
  {
    const auto live = kube::LiveCluster::open(connect, "", [] {});
    if (!live || std::ssize((*live)->picture().workloads) != options.workloads) return 1;
  }
  fmt::print("first picture: {:.2f} s, of which {:.2f} s of processor time here\n",
             ms_since(begun) / 1000, static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  const Instant opened = std::chrono::steady_clock::now();
  steer_kube::Config config{.state = folder / ""};
  config.connect = connect;
  auto service = SteppedService::open(std::move(config));
  if (!service) {
    fmt::print(stderr, "{}\n", to_string(service.error()));
    return 1;
  }
  fmt::print("first decision: {:.2f} s\n", ms_since(opened) / 1000);
  const steer_kube::Known& known = (*service)->known;
  std::vector<double> times;
  std::size_t places = known.decided_on->workloads.size();
  for (int at = 0; at < options.changes; ++at) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (*service)->loop.step();
    const Instant changed = std::chrono::steady_clock::now();
    if (::write(orders[1], "+", 1) != 1) return 1;
    while (known.decided_on->workloads.size() == places) {
      (*service)->loop.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    times.push_back(ms_since(changed));
    places = known.decided_on->workloads.size();
  }
  std::sort(times.begin(), times.end());
  fmt::print("watch to decision: median {:.0f} ms, worst {:.0f} ms of {}\n",
             times[times.size() / 2], times.back(), times.size());
  fmt::print("memory: {:.0f} MB\n", most_memory_mb());
  service->reset();
  ::close(orders[1]);
  ::waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace almanac::replay

int main(int argc, char** argv) {
  almanac::replay::Options options;
  CLI::App app("What a large cluster costs the service of a Kubernetes cluster");
  app.add_option("--workloads", options.workloads, "That wait");
  app.add_option("--nodes", options.nodes, "Of 8 GPUs");
  app.add_option("--queues", options.queues, "ClusterQueues");
  app.add_option("--changes", options.changes, "Workloads that come later");
  CLI11_PARSE(app, argc, argv);
  return almanac::replay::run(options);
}
