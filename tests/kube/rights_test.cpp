// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rights in packaging/kubernetes are those that the service uses, no fewer and no more, and
/// what is missing without each.
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "manifests.h"
#include "objects.h"
#include "steer_kube/kube_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer_kube {
namespace {

using kube::Json;
using testing::HasSubstr;

class RightsTest : public testing::Test {
 protected:
  void SetUp() override {
    kube::make_cluster(server_, "");
    for (const char* const name : {"one", "two"}) {
      Json made = kube::workload(name, "main", 8);
      // The newer one is shorter, so that there is a number to write.
      const bool is_first = name == std::string("one");
      made["metadata"]["creationTimestamp"] =
          is_first ? "2026-11-01T00:00:00Z" : "2026-11-01T01:00:00Z";
      made["spec"]["maximumExecutionTimeSeconds"] = is_first ? 3600 : 60;
      server_.create(kube::in_namespace("a", "workloads"), made);
    }
    server_.date = "Sun, 01 Nov 2026 12:00:00 GMT";
  }
  /// Opens the service, and runs it until it has renewed its Lease.
  Result<std::unique_ptr<KubeService>> run(service::Switch order) {
    Config config{.state = folder_ / "state", .settings = {.order = order}};
    config.connect = [url = server_.url()] {
      return kube::Client::to({.server = url, .from = url});
    };
    auto opened = KubeService::open(std::move(config));
    if (!opened) return opened;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (order == service::Switch::on && std::chrono::steady_clock::now() < until) {
      (*opened)->step();
      const bool has_renewed = server_.rights_used().contains("update coordination.k8s.io/leases");
      if (has_renewed || !(*opened)->manager()->levers[0].rests.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return opened;
  }
  /// All rights but one, as anonymous users of a server that knows a token.
  void take_away(const std::string& verb, const std::string& resource) {
    server_.set_tokens({{"token", "admin"}});
    server_.set_rights([=](const std::string&, const std::string& used, const std::string& of) {
      return used != verb || of != resource;
    });
  }

  kube::ApiServer server_;
  TemporaryFolder folder_;
};

TEST_F(RightsTest, AShadowUsesThoseOfTheObserver) {
  ASSERT_TRUE(run(service::Switch::dry));
  EXPECT_EQ(server_.rights_used(), kube::granted_in("shadow"));
}

TEST_F(RightsTest, LeverOrderUsesThoseOfItsRoles) {
  ASSERT_TRUE(run(service::Switch::on));
  std::set<std::string> granted = kube::granted_in("shadow");
  granted.merge(kube::granted_in("order"));
  EXPECT_EQ(server_.rights_used(), granted);
}

TEST_F(RightsTest, WhatTheServiceCannotDoWithoutIsNamed) {
  for (const char* const resource :
       {"workloads", "clusterqueues", "localqueues", "resourceflavors"}) {
    for (const char* const verb : {"list", "watch"}) {
      take_away(verb, resource);
      const auto opened = run(service::Switch::dry);
      const std::string right = fmt::format("cannot {} resource \"{}\"", verb, resource);
      if (!opened) {
        EXPECT_THAT(opened.error().message, HasSubstr(right));
        continue;
      }
      // It may have had its lists before the watch was refused.
      EXPECT_STREQ(verb, "watch");
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while ((*opened)->manager()->trouble.empty() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_THAT((*opened)->manager()->trouble, HasSubstr(right));
    }
  }
}

TEST_F(RightsTest, WithoutOptionalOnesItOnlyNotesThat) {
  for (const char* const resource : {"cohorts", "nodes"}) {
    take_away("list", resource);
    const auto opened = run(service::Switch::dry);
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_THAT((*opened)->overview().warnings,
                testing::Contains(HasSubstr(fmt::format("{} are unknown", resource))));
  }
}

/// What the lever says if one of its own rights is missing.
class LeverRightsTest : public RightsTest,
                        public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(LeverRightsTest, TheLeverRestsAndNamesTheRight) {
  const auto& [verb, resource] = GetParam();
  take_away(verb, resource);
  const auto opened = run(service::Switch::on);
  ASSERT_TRUE(opened);
  EXPECT_THAT((*opened)->manager()->levers[0].rests,
              HasSubstr(fmt::format("cannot {} resource \"{}\"", verb, resource)));
  EXPECT_EQ((*opened)->manager()->levers[0].done, 0U);
}

INSTANTIATE_TEST_SUITE_P(Each, LeverRightsTest,
                         testing::Values(std::pair("patch", "workloads"),
                                         std::pair("get", "leases"),
                                         std::pair("create", "leases")));

}  // namespace
}  // namespace almanac::steer_kube
