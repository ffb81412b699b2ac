// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of a service for a Kubernetes cluster, and how they open it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/kube_options.h"
#include "service/service.h"

namespace almanac::cli {

struct KubeEngine {
  KubeOptions kube{};
  std::string field{};                  ///< "priority", "boost"; "" = priority.
  std::vector<std::string> canary{};    ///< ClusterQueues.
  std::vector<std::string> backfill{};  ///< ClusterQueues.
  std::vector<std::string> exempt{};    ///< Namespaces.
  std::string lease_space{};
  std::string user_label{};
  bool is_fair = false;

  void add_to(CLI::App& command);
  bool is_told_anything() const;
  /// Opens the service on the folder `state`. `order` is "off", "dry", "on" or "" for dry.
  Result<std::unique_ptr<service::Service>> open(const std::string& state,
                                                 const std::string& order) const;
};

}  // namespace almanac::cli
