// SPDX-License-Identifier: Apache-2.0

/// \file
/// What this machine has to give away: GPUs as the driver tells them or as configured, processors,
/// memory; and what it can hold jobs to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"

namespace almanac::machine {

/// Where an instance of a board is.
struct Place {
  int profile = 0;  ///< Position in slices::Board::profiles.
  int slice = 0;    ///< Of memory, at which it begins.

  bool operator==(const Place&) const = default;
};

/// An instance that there is on a GPU of the cluster.
struct Standing {
  Place place{};
  NodeId node{};
  int gpu = 0;
  std::string name{};  ///< As CUDA_VISIBLE_DEVICES has it: "MIG-...".

  bool operator==(const Standing&) const = default;
};

struct Machine {
  cluster::Cluster cluster{};  ///< All nodes are this machine; one, unless configured otherwise.
  /// CUDA_VISIBLE_DEVICES' name of each GPU of each node: "0", "GPU-1a2b...".
  std::vector<std::vector<std::string>> gpu_names{};
  /// NVML's number of each; nothing where there is no driver, or it does not know it.
  std::vector<std::vector<std::optional<int>>> driver_numbers{};
  /// N of the device /dev/nvidiaN of each GPU of each node. Empty = jobs are not kept from the GPUs
  /// of others: there is no driver, it does not know them all as whole GPUs, or the kernel closes
  /// no devices for us.
  std::vector<std::vector<int>> device_minors{};
  std::vector<int> cores{};  ///< Processors to give away, rising; empty = they are not pinned: more
                             ///< are configured than there are.
  bool has_driver = false;   ///< GPUs are the driver's.
  /// GPUs of nodes with a board are cut as jobs need it; what stands of them.
  bool makes_instances = false;
  std::vector<Standing> standing{};
  /// A number of a process means the same to the driver and to us.
  bool numbers_processes_as_driver = false;
  std::string limits_by{};           ///< What holds jobs to their limits, in words.
  std::vector<std::string> notes{};  ///< What the user should know.
};

/// `cluster_file` "" = as found: the driver's GPUs, all processors, all memory but a tenth. With
/// `makes_instances`, which changes what the driver has, GPUs that are in MIG mode and of a known
/// board are boards to be cut; else there are the instances that stand.
Result<Machine> find_machine(const std::string& cluster_file, bool makes_instances = false);

}  // namespace almanac::machine
