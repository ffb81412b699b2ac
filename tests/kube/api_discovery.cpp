// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers of the API server of the tests about itself: its groups, and what a user may.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>

#include "api_answers.h"
#include "api_place.h"
#include "api_server.h"

namespace almanac::kube {

bool ApiServer::answer_group(const std::string& path, httplib::Response& response) {
  const auto group_version = [&](const std::string& version) {
    return Json{{"groupVersion", fmt::format("{}/{}", kKueueGroup, version)}, {"version", version}};
  };
  if (path == "/version") {
    say(response, 200,
        {{"major", "1"},
         {"minor", "20"},
         {"gitVersion", "v1.20.2"},
         {"gitTreeState", "clean"},
         {"compiler", "gc"},
         {"platform", "linux/amd64"}});
    return true;
  }
  if (path.rfind("/apis/", 0) != 0) return false;
  const std::vector<std::string> parts = parts_of(path);
  if (parts.size() == 2 && parts[1] == kKueueGroup && !versions.empty()) {
    Json all = Json::array();
    for (const std::string& each : versions) all.push_back(group_version(each));
    say(response, 200,
        {{"kind", "APIGroup"},
         {"apiVersion", "v1"},
         {"name", kKueueGroup},
         {"versions", all},
         {"preferredVersion", group_version(versions.front())}});
    return true;
  }
  if (parts.size() == 2 && other_groups.contains(parts[1])) {
    say(response, 200, {{"kind", "APIGroup"}, {"apiVersion", "v1"}, {"name", parts[1]}});
    return true;
  }
  if (parts.size() != 3 || parts[1] != kKueueGroup ||
      std::find(versions.begin(), versions.end(), parts[2]) == versions.end()) {
    return false;
  }
  Json resources = Json::array();
  for (const ApiKind& each : kApiKinds) {
    if (each.group != std::string(kKueueGroup)) continue;
    Json one{{"name", each.plural},
             {"singularName", each.singular},
             {"namespaced", each.namespaced},
             {"kind", each.kind},
             {"verbs",
              {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}}};
    if (*each.short_name != '\0') one["shortNames"] = {each.short_name};
    resources.push_back(one);
    if (!each.has_status) continue;
    resources.push_back({{"name", std::string(each.plural) + "/status"},
                         {"singularName", ""},
                         {"namespaced", each.namespaced},
                         {"kind", each.kind},
                         {"verbs", {"get", "patch", "update"}}});
  }
  say(response, 200,
      {{"kind", "APIResourceList"},
       {"apiVersion", "v1"},
       {"groupVersion", fmt::format("{}/{}", kKueueGroup, parts[2])},
       {"resources", resources}});
  return true;
}

void ApiServer::answer_review(const httplib::Request& request, const std::string& user,
                              httplib::Response& response) {
  Json review = Json::parse(request.body);
  const Json& asked = review["spec"]["resourceAttributes"];
  const std::lock_guard lock(mutex_);
  const bool allowed = user == "admin" || (may_ && may_(user, asked["verb"], asked["resource"]));
  review["metadata"] = {{"creationTimestamp", nullptr}};
  review["status"] = {{"allowed", allowed}};
  if (allowed) {
    review["status"]["reason"] =
        "RBAC: allowed by ClusterRoleBinding \"almanac-order\" of "
        "ClusterRole \"almanac-order\" to User \"almanac\"";
  }
  say(response, 201, review);
}

}  // namespace almanac::kube
