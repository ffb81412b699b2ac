// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of a Kubernetes cluster in the process of the test, with an API server of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/picture.h"
#include "objects.h"
#include "steer_kube/kube_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer_kube {

using kube::Json;

inline const std::string kJobs = kube::in_namespace("a", "workloads");

class KubeServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.date = "Sun, 01 Nov 2026 12:00:00 GMT";
    kube::make_cluster(server_, "");
    // Five runs of each kind, so that their run times are known: 10 h and 1 h.
    for (int run = 1; run <= 5; ++run) {
      end_run("long-" + std::to_string(run), "2026-11-01T10:00:00Z");
      end_run("short-" + std::to_string(run), "2026-11-01T01:00:00Z");
    }
  }
  void end_run(const std::string& name, const std::string& until) {
    server_.create(kJobs, kube::workload(name, "main", 1));
    server_.patch(kJobs + "/" + name, kube::finished("team-a", 1, "2026-11-01T00:00:00Z", until));
  }
  void wait(const std::string& name, int gpus, const std::string& created,
            const Json& more = Json::object()) {
    Json made = kube::workload(name, "main", gpus);
    made["metadata"]["creationTimestamp"] = created;
    made.merge_patch(more);
    server_.create(kJobs, made);
  }
  /// The queue is full, an older long job waits before a newer short one.
  void fill() {
    for (const auto& [name_space, queue] : {std::pair("a", "team-a"), std::pair("b", "team-b")}) {
      const std::string path = kube::in_namespace(name_space, "workloads");
      server_.create(path, kube::workload(std::string("runs-") + name_space, "main", 8));
      server_.patch(path + "/runs-" + name_space, kube::admitted(queue, 8, "2026-11-01T11:00:00Z"));
    }
    wait("long-9", 8, "2026-11-01T11:00:00Z");
    wait("short-9", 8, "2026-11-01T11:30:00Z");
  }
  /// The same in team-b, so that two workloads get a rank of 3: short-9 and short-b.
  void fill_both() {
    fill();
    for (const auto& [name, created, limit_s] :
         {std::tuple("long-b", "2026-11-01T11:00:00Z", 3600),
          std::tuple("short-b", "2026-11-01T11:30:00Z", 60)}) {
      Json made = kube::workload(name, "main", 8);
      made["metadata"]["creationTimestamp"] = created;
      made["spec"]["maximumExecutionTimeSeconds"] = limit_s;
      server_.create(kube::in_namespace("b", "workloads"), made);
    }
  }
  std::int64_t priority_of_b() {
    kube::Client by_hand = client();
    return Json::parse(
        by_hand.get(kube::in_namespace("b", "workloads") + "/short-b").value())["spec"]["priority"];
  }
  Result<std::unique_ptr<KubeService>> try_open(service::Switch order, Settings settings = {}) {
    service_.reset();
    settings.order = order;
    Config config{.state = folder_ / "state", .settings = std::move(settings)};
    config.connect = [url = server_.url()] {
      return kube::Client::to({.server = url, .from = url});
    };
    return KubeService::open(std::move(config));
  }
  void open(service::Switch order, Settings settings = {}) {
    auto opened = try_open(order, std::move(settings));
    ASSERT_TRUE(opened) << to_string(opened.error());
    service_ = std::move(*opened);
  }
  /// As on SIGTERM: it releases the Lease.
  void stop() {
    const std::atomic<bool> stopped = true;
    service_->run(stopped);
    service_.reset();
  }
  kube::Client client() {
    return kube::Client::to({.server = server_.url(), .from = server_.url()}).value();
  }
  /// Runs steps until something is so; false after 20 s.
  bool comes(const std::function<bool()>& is_true) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
      service_->step();
      if (is_true()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// Runs steps for a second and a half, in which seven numbers could be written.
  void go_on() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    comes([&] { return std::chrono::steady_clock::now() >= until; });
  }
  Json object(const std::string& name) {
    kube::Client client =
        kube::Client::to({.server = server_.url(), .from = server_.url()}).value();
    return Json::parse(client.get(kJobs + "/" + name).value());
  }
  std::int64_t priority(const std::string& name) { return object(name)["spec"]["priority"]; }
  std::string boost(const std::string& name) {
    return object(name)["metadata"]
        .value("annotations", Json::object())
        .value("kueue.x-k8s.io/priority-boost", "");
  }
  service::LeverView lever() { return service_->manager()->levers.at(0); }
  service::JobView view(const std::string& full_name) {
    const auto all = service_->jobs({});
    for (const service::JobView& each : *all) {
      if (each.job.asked->comment == full_name) return each;
    }
    ADD_FAILURE() << "no job " << full_name;
    return {};
  }
  bool has_used(const std::string& verb) {
    for (const std::string& right : server_.rights_used()) {
      if (right.starts_with(verb + " ")) return true;
    }
    return false;
  }

  kube::ApiServer server_;
  TemporaryFolder folder_;
  std::unique_ptr<KubeService> service_;
};

}  // namespace almanac::steer_kube
