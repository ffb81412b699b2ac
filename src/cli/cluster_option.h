// SPDX-License-Identifier: Apache-2.0

/// \file
/// The option --cluster, which means the same in every command that reads job logs.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/option_group.h"

namespace almanac::cli {

/// What site::read_cluster() takes, for help.
inline constexpr const char* kClusterForms =
    "Cluster: a file (TOML, CSV, slurm.conf, output of scontrol or sinfo), a directory of a Slurm "
    "site, or NxG for N nodes of G GPUs";

/// Adds --cluster to `command`, with `suffix` behind its name. `otherwise` says in words what
/// applies without the option; "" = nothing does.
inline CLI::Option* add_cluster_option(CLI::App& command, std::string& cluster,
                                       const std::string& otherwise,
                                       const std::string& suffix = "") {
  const std::string preset = otherwise.empty() ? "" : " (default: " + otherwise + ")";
  return command.add_option("--cluster" + suffix, cluster, kClusterForms + preset)
      ->option_text("FILE|NxG")
      ->group(heading(Group::cluster));
}

}  // namespace almanac::cli
