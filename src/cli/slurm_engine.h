// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of a service for a Slurm cluster, and how they open it.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "perf/catalogue.h"
#include "service/service.h"

namespace almanac::cli {

struct SlurmEngine {
  std::string way;
  std::string levers{};  ///< A TOML file; "" = all levers are dry.
  std::string order{};   ///< "off", "dry", "on"; "" = as the file says.
  std::string agents{};  ///< "HOST:PORT" at which agents of nodes are listened for; "" = none.
  std::string agent_secret = kAgentSecret;

  static constexpr const char* kAgentSecret = "/etc/almanac/agent.secret";

  void add_to(CLI::App& command);
  bool is_told_anything() const { return !order.empty() || is_told_more_than_order(); }
  bool is_told_more_than_order() const {
    return !way.empty() || !levers.empty() || !agents.empty();
  }
  using Speeds = std::shared_ptr<const perf::Catalogue>;
  /// Opens the service on the folder `state`. An empty policy means that of the last service.
  Result<std::unique_ptr<service::Service>> open(const std::string& state,
                                                 const std::string& policy,
                                                 const std::string& shadow, Speeds speeds) const;
};

}  // namespace almanac::cli
