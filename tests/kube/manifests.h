// SPDX-License-Identifier: Apache-2.0

/// \file
/// The objects of packaging/kubernetes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server.h"
#include "kube/yaml.h"

namespace almanac::kube {

/// All objects of a folder of manifests.
inline std::vector<Json> manifests_in(const std::string& folder) {
  std::vector<Json> made;
  const std::filesystem::path all = std::filesystem::path(ALMANAC_MANIFESTS) / folder;
  for (const auto& file : std::filesystem::directory_iterator(all)) {
    std::ifstream opened(file.path());
    const std::string whole(std::istreambuf_iterator<char>(opened), {});
    for (std::size_t from = 0; from < whole.size();) {
      const std::size_t end = std::min(whole.find("---\n", from), whole.size());
      Json document = parse_yaml(whole.substr(from, end - from)).value();
      from = end + 4;
      if (document.is_object()) made.push_back(std::move(document));
    }
  }
  return made;
}

/// The rules of all roles in a folder of manifests: "patch kueue.x-k8s.io/workloads".
inline std::set<std::string> granted_in(const std::string& folder) {
  std::set<std::string> made;
  for (const Json& object : manifests_in(folder)) {
    for (const Json& rule : object.value("rules", Json::array())) {
      for (const Json& group : rule["apiGroups"]) {
        for (const Json& resource : rule["resources"]) {
          for (const Json& verb : rule["verbs"]) {
            made.insert(fmt::format("{} {}/{}", verb.get<std::string>(), group.get<std::string>(),
                                    resource.get<std::string>()));
          }
        }
      }
    }
  }
  return made;
}

}  // namespace almanac::kube
