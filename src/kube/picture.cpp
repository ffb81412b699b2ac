// SPDX-License-Identifier: Apache-2.0
#include "kube/picture.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/collector.h"
#include "kube/picture_parts.h"
#include "kube/plain.h"
#include "kube/read_objects.h"
#include "kueue/object.h"

namespace almanac::kube {
namespace {

using nlohmann::json;

/// Newest first.
constexpr const char* kVersions[] = {"v1beta2", "v1beta1"};

/// The objects that Kueue's quotas are made of, as one list.
Result<void> read_setup(Client& client, Picture& picture) {
  json items = json::array();
  for (const auto& [collection, kind] :
       {std::pair("resourceflavors", "ResourceFlavor"), std::pair("cohorts", "Cohort"),
        std::pair("clusterqueues", "ClusterQueue")}) {
    const auto read = [&, kind = kind](const json& object) -> Result<json> {
      return declared(object, kind, picture.version);
    };
    auto objects = collect<json>(client, path_of(picture.version, collection), picture, read);
    if (!objects) {
      // Old releases have no such objects; cohorts exist by name.
      if (std::string_view(collection) != "cohorts") return tl::unexpected(objects.error());
      if (objects.error().code != Code::not_found)
        picture.notes.push_back(to_string(objects.error()));
      continue;
    }
    for (json& each : *objects) items.push_back(std::move(each));
  }
  return set_objects(picture, items);
}

}  // namespace

json declared(json object, const std::string& kind, const std::string& version) {
  object["kind"] = kind;
  object["apiVersion"] = "kueue.x-k8s.io/" + version;
  if (object.contains("metadata")) object["metadata"].erase("managedFields");
  object.erase("status");
  return object;
}

Result<void> set_objects(Picture& picture, const json& items) {
  picture.objects_json = json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}.dump(1);
  auto objects = kueue::parse_objects(picture.objects_json);
  if (!objects) {
    objects.error().hint = "kubectl get clusterqueues";
    return tl::unexpected(objects.error());
  }
  picture.objects = std::move(*objects);
  return {};
}

void add_nodes(Client& client, Picture& picture) {
  std::sort(picture.workloads.begin(), picture.workloads.end(),
            [](const Workload& a, const Workload& b) {
              return std::tie(a.created, a.uid) < std::tie(b.created, b.uid);
            });
  if (auto nodes = collect<Node>(client, "/api/v1/nodes", picture, read_node)) {
    picture.nodes = std::move(*nodes);
  } else {
    picture.notes.push_back("nodes are unknown: " + to_string(nodes.error()));
  }
  note_other_accelerators(picture);
  picture.at =
      std::chrono::floor<std::chrono::seconds>(wall_clock() + client.skew().value_or(Duration{0}));
}

void note_other_accelerators(Picture& picture) {
  std::set<std::string> found;
  const auto look = [&](const std::map<std::string, kueue::Amount>& resources) {
    for (const auto& [name, amount] : resources) {
      if (amount > 0 && is_other_accelerator(name)) found.insert(name);
    }
  };
  for (const Node& node : picture.nodes) look(node.allocatable);
  for (const Workload& workload : picture.workloads) {
    for (const PodSet& each : workload.pod_sets) look(each.pods.requests);
  }
  if (found.empty()) return;
  picture.notes.push_back(
      fmt::format("not counted as GPUs: {} (only whole GPUs are, such as nvidia.com/gpu)",
                  fmt::join(found, ", ")));
}

Result<std::string> cluster_uid(Client& client) {
  const std::string path = "/api/v1/namespaces/kube-system";
  const auto body = client.get(path);
  if (!body) return tl::unexpected(body.error());
  std::string made = uid_of(json::parse(*body, nullptr, /*allow_exceptions=*/false));
  if (made.empty()) {
    return fail(Code::invalid, path + ": the answer has no metadata.uid", {},
                "another server than Kubernetes may answer");
  }
  return made;
}

std::string path_of(const std::string& version, const std::string& collection) {
  return fmt::format("/apis/kueue.x-k8s.io/{}/{}", version, collection);
}

Result<std::string> find_version(Client& client) {
  const auto body = client.get("/apis/kueue.x-k8s.io");
  if (!body) {
    if (body.error().code != Code::not_found) return tl::unexpected(body.error());
    return fail(Code::not_found, "this cluster has no Kueue: no API group is called kueue.x-k8s.io",
                {}, "almanac kube doctor says what it has");
  }
  std::vector<std::string> served;
  try {
    const json group = json::parse(*body, nullptr, /*allow_exceptions=*/false);
    for (const auto& each : kueue::Object(group, "API group").objects("versions")) {
      served.push_back(plain(each.text("version")));
    }
  } catch (const kueue::Refused& refused) {
    return fail(Code::invalid, refused.message, {}, "another server than Kubernetes may answer");
  }
  for (const char* const version : kVersions) {
    if (std::find(served.begin(), served.end(), version) != served.end()) return version;
  }
  const bool is_older = std::all_of(served.begin(), served.end(), [](const std::string& each) {
    return each.find("alpha") != std::string::npos;
  });
  return fail(Code::unsupported,
              fmt::format("Kueue's API has the versions {}, and Almanac reads {}",
                          fmt::join(served, ", "), fmt::join(kVersions, ", ")),
              {}, is_older ? "use Kueue 0.6 or later" : "use a later release of Almanac");
}

Result<Picture> take_picture(Client& client, const std::string& user_label) {
  auto version = find_version(client);
  if (!version) return tl::unexpected(version.error());
  Picture made{.version = std::move(*version)};
  if (auto read = read_setup(client, made); !read) return tl::unexpected(read.error());
  auto queues =
      collect<LocalQueue>(client, path_of(made.version, "localqueues"), made, read_local_queue);
  if (!queues) return tl::unexpected(queues.error());
  for (LocalQueue& each : *queues) {
    std::string name = each.name_space + "/" + each.name;
    made.local_queues.emplace(std::move(name), std::move(each));
  }
  auto workloads =
      collect<Workload>(client, path_of(made.version, "workloads"), made,
                        [&](const json& object) { return read_workload(object, user_label); });
  if (!workloads) return tl::unexpected(workloads.error());
  made.workloads = std::move(*workloads);
  for (const Workload& each : made.workloads) {
    made.uncounted.insert(each.uncounted.begin(), each.uncounted.end());
  }
  add_nodes(client, made);
  return made;
}

std::string Picture::cluster_queue(const Workload& workload) const {
  if (!workload.cluster_queue.empty()) return workload.cluster_queue;
  const auto found = local_queues.find(workload.name_space + "/" + workload.local_queue);
  return found == local_queues.end() ? "" : found->second.cluster_queue;
}

Duration Picture::waited(const Workload& workload) const {
  return std::max(Duration{0}, at - workload.created);
}

std::optional<std::size_t> Picture::queue_at(const std::string& cluster_queue) const {
  for (std::size_t at = 0; at < objects.setup.queues.size(); ++at) {
    if (objects.setup.queues[at].name == cluster_queue) return at;
  }
  return std::nullopt;
}

}  // namespace almanac::kube
