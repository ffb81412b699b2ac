// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cluster at one moment: with Kueue, or as far as pod_groups.h reads it, with another scheduler.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/workload.h"
#include "kueue/read.h"

namespace almanac::kube {

struct Picture {
  Time at = kNoTime;                ///< By the server's clock.
  const char* scheduler = "Kueue";  ///< What admits its workloads.
  std::string version{};            ///< "v1beta2": the version of Kueue's API that was read.
  kueue::Objects objects{};
  /// The same as the JSON of `kubectl get clusterqueues,cohorts,resourceflavors -o json`.
  std::string objects_json{};
  std::map<std::string, LocalQueue> local_queues{};  ///< By "namespace/name".
  std::vector<Workload> workloads{};                 ///< In the order of their creation, then uid.
  /// Resources that pods request and the site's Kueue does not count.
  std::set<std::string> uncounted{};
  /// Uids of workloads that are there and could not be read.
  std::set<std::string> unreadable{};
  std::vector<Node> nodes{};
  /// What could not be read, a sentence each.
  std::vector<std::string> notes{};

  /// Returns the ClusterQueue of a workload; "" if its local queue does not exist.
  std::string cluster_queue(const Workload& workload) const;
  /// Returns how long a workload has existed; 0 for one that was created later than now.
  Duration waited(const Workload& workload) const;
  /// Index into Setup::queues; nothing if there is none of that name.
  std::optional<std::size_t> queue_at(const std::string& cluster_queue) const;
};

/// Returns the path of a collection of Kueue's API in all namespaces:
/// "/apis/kueue.x-k8s.io/v1beta2/workloads".
std::string path_of(const std::string& version, const std::string& collection);

/// Returns the newest version of Kueue's API that Almanac reads and the server has. Fails with
/// not_found if the cluster has no Kueue, and with `unsupported` if it has other versions only.
Result<std::string> find_version(Client& client);

/// Returns what no other cluster has: the uid of the namespace kube-system. Fails
/// like Client::get(), and with `invalid`.
Result<std::string> cluster_uid(Client& client);

/// Lists everything. An object that cannot be read is left out with a note; so are nodes and
/// cohorts if the server refuses to list them. Fails like list(), and with kueue::parse_objects().
Result<Picture> take_picture(Client& client, const std::string& user_label = "");

}  // namespace almanac::kube
