// SPDX-License-Identifier: Apache-2.0

/// \file
/// The roles of packaging/kubernetes under the RBAC of a real kube-apiserver (tests/kube/real):
/// they suffice, and each right is missed. Skipped without one.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/access.h"
#include "kube/client.h"
#include "kube/doctor.h"
#include "manifests.h"
#include "objects.h"
#include "steer_kube/kube_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer_kube {
namespace {

using kube::Client;
using kube::Json;
using testing::HasSubstr;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";

class RealRightsTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("ALMANAC_KUBE_REAL");
    if (folder == nullptr) GTEST_SKIP() << "tests/kube/real runs it";
    folder_of_server_ = folder;
    kube::make_cluster(server_, "");
    make_workloads();
  }
  /// Two workloads that wait, of which the second gets a rank. They have none yet.
  void make_workloads() {
    // By the server's clock, so that neither has waited so long that it goes first for its age.
    const auto now = std::chrono::system_clock::now();
    for (const auto& [name, waited, limit_s] :
         {std::tuple("one", 2min, 3600), std::tuple("two", 1min, 60)}) {
      Json made = kube::workload(name, "main", 8);
      made["metadata"]["creationTimestamp"] =
          fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now - waited)));
      made["spec"]["maximumExecutionTimeSeconds"] = limit_s;
      server_.create(kube::in_namespace("a", "workloads"), made);
    }
  }
  /// As the kubeconfig of a user of the server says.
  Client as(const std::string& user) const {
    return Client::to(
               kube::read_kubeconfig(folder_of_server_ + "/" + user + ".kubeconfig", "").value())
        .value();
  }
  /// Applies the roles and bindings of the manifests to the user almanac, without one right.
  void grant(const std::vector<std::string>& folders, const std::string& but = "") {
    Client admin = as("admin");
    for (const std::string& folder : folders) {
      for (Json object : kube::manifests_in(folder)) {
        const std::string kind = object["kind"];
        if (kind.find("Role") == std::string::npos) continue;
        if (object.contains("subjects")) {
          object["subjects"] = {
              {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "almanac"}}};
        }
        if (object.contains("rules")) object["rules"] = without(object["rules"], but);
        const std::string where =
            object["metadata"].contains("namespace")
                ? "/namespaces/" + object["metadata"]["namespace"].get<std::string>()
                : "";
        const std::string path = fmt::format("{}{}/{}s", kRbac, where,
                                             kind == "Role"          ? "role"
                                             : kind == "RoleBinding" ? "rolebinding"
                                             : kind == "ClusterRole" ? "clusterrole"
                                                                     : "clusterrolebinding");
        const auto posted = admin.send("POST", path, object.dump());
        ASSERT_TRUE(posted);
        if (posted->status != 409) {
          ASSERT_EQ(posted->status, 201) << posted->body;
          continue;
        }
        const auto put = admin.send(
            "PUT", path + "/" + object["metadata"]["name"].get<std::string>(), object.dump());
        ASSERT_EQ(put->status, 200) << put->body;
      }
    }
    // The server takes a moment to know them.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  static Json without(const Json& rules, const std::string& but) {
    Json made = Json::array();
    for (const Json& rule : rules) {
      for (const Json& resource : rule["resources"]) {
        for (const Json& verb : rule["verbs"]) {
          const std::string right =
              fmt::format("{} {}/{}", verb.get<std::string>(),
                          rule["apiGroups"][0].get<std::string>(), resource.get<std::string>());
          if (right == but) continue;
          Json one = rule;
          one["resources"] = {resource};
          one["verbs"] = {verb};
          made.push_back(one);
        }
      }
    }
    return made;
  }
  /// All that a service with lever order on says of what it may not, once it is enough, or after
  /// 20 s.
  std::string said(const std::function<bool(const std::string&)>& is_enough) {
    const TemporaryFolder folder;
    Config config{.state = folder / "state", .settings = {.order = service::Switch::on}};
    config.connect = [this] { return Result<Client>(as("almanac")); };
    const auto opened = KubeService::open(std::move(config));
    if (!opened) return to_string(opened.error());
    std::string made;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until && !is_enough(made)) {
      (*opened)->step();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      made.clear();
      for (const std::string& each : (*opened)->overview().warnings) made += each + "\n";
      const service::Manager manager = *(*opened)->manager();
      made += manager.trouble + "\n" + manager.levers.at(0).rests;
    }
    // The next one gets the Lease.
    const std::atomic<bool> stopped = true;
    (*opened)->run(stopped);
    return made;
  }
  std::int64_t priority(const std::string& name) {
    return Json::parse(as("admin")
                           .get(kube::in_namespace("a", "workloads") + "/" + name)
                           .value())["spec"]["priority"];
  }

  kube::ApiServer server_;
  std::string folder_of_server_;
};

TEST_F(RealRightsTest, TheRolesSuffice) {
  grant({"shadow", "order"});
  const auto is_ranked = [&](const std::string&) { return priority("two") == 3; };
  EXPECT_THAT(said(is_ranked), testing::Not(HasSubstr("forbidden")));
  EXPECT_EQ(priority("two"), 3);
  Client almanac = as("almanac");
  const auto diagnosis = kube::diagnose(almanac);
  ASSERT_TRUE(diagnosis);
  for (const kube::Finding& each : diagnosis->findings) {
    if (each.what.starts_with("right: ")) {
      EXPECT_EQ(each.found, "yes") << each.what;
    }
  }
}

TEST_F(RealRightsTest, EachRightIsMissed) {
  std::set<std::string> rights = kube::granted_in("shadow");
  rights.merge(kube::granted_in("order"));
  ASSERT_EQ(rights.size(), 17U);
  for (const std::string& right : rights) {
    make_workloads();
    grant({"shadow", "order"}, right);
    const std::size_t space = right.find(' ');
    const std::string refused = fmt::format("cannot {} resource \"{}\"", right.substr(0, space),
                                            right.substr(right.find('/') + 1));
    const auto is_missed = [&](const std::string& text) {
      return text.find(refused) != std::string::npos;
    };
    EXPECT_THAT(said(is_missed), HasSubstr(refused)) << right;
  }
}

TEST_F(RealRightsTest, AClientCertificateIsAnIdentity) {
  grant({"shadow"});
  const kube::Access token =
      kube::read_kubeconfig(folder_of_server_ + "/almanac.kubeconfig", "").value();
  kube::Access certificate = token;
  certificate.credential = kube::Credential::of_files("", folder_of_server_ + "/pki/almanac.crt",
                                                      folder_of_server_ + "/pki/almanac.key");
  Client almanac = Client::to(std::move(certificate)).value();
  EXPECT_TRUE(almanac.get("/api/v1/nodes"));
  const auto pods = almanac.get("/api/v1/pods");
  ASSERT_FALSE(pods);
  EXPECT_THAT(to_string(pods.error()), HasSubstr("User \"almanac\" cannot list resource \"pods\""));
}

}  // namespace
}  // namespace almanac::steer_kube
