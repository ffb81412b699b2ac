// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of a service for a Kubernetes cluster, and how they open it.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/kube_options.h"
#include "service/service.h"

namespace almanac::cli {

struct KubeEngine {
  KubeOptions kube{};
  std::string field{};     ///< "priority", "boost"; "" = priority.
  std::string canary{};    ///< ClusterQueues, separated by commas.
  std::string backfill{};  ///< ClusterQueues, likewise.
  std::string exempt{};    ///< Namespaces, likewise.
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
