// SPDX-License-Identifier: Apache-2.0

/// \file
/// The resources of this machine: GPUs as reported by the driver or configured, processors, memory;
/// and the limits that it can enforce on jobs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"

namespace almanac::machine {

/// The place of an instance on a board.
struct Place {
  int profile = 0;  ///< Position in slices::Board::profiles.
  int slice = 0;    ///< First memory slice.

  bool operator==(const Place&) const = default;
};

/// An existing instance on a GPU of the cluster.
struct Standing {
  Place place{};
  NodeId node{};
  int gpu = 0;
  std::string name{};  ///< As in CUDA_VISIBLE_DEVICES: "MIG-...".

  bool operator==(const Standing&) const = default;
};

struct Machine {
  cluster::Cluster cluster{};  ///< All nodes are this machine; one node unless configured
                               ///< otherwise.
  /// Name in CUDA_VISIBLE_DEVICES, by node and GPU: "0", "GPU-1a2b...".
  std::vector<std::vector<std::string>> gpu_names{};
  /// The driver's index of each; nothing without a driver, or if it does not know the GPU.
  std::vector<std::vector<std::optional<int>>> driver_numbers{};
  /// N of the device /dev/nvidiaN, by node and GPU. Empty if jobs are not kept from the GPUs of
  /// others: without a driver, if it does not know all of them as whole GPUs, or if the kernel
  /// cannot restrict devices for us.
  std::vector<std::vector<int>> device_minors{};
  /// Processors to allocate, ascending; empty if processors are not pinned, because more are
  /// configured than exist.
  std::vector<int> cores{};
  bool has_driver = false;  ///< Whether the GPUs are those of the driver.
  /// Whether GPUs of nodes with a board are partitioned as jobs need; `standing` has their
  /// instances.
  bool makes_instances = false;
  std::vector<Standing> standing{};
  /// Whether the driver uses the same process ids as we do.
  bool numbers_processes_as_driver = false;
  /// The box of each node, if jobs run on boxes that joined (box.h); empty if they run here.
  std::vector<std::string> boxes{};
  /// Processors to allocate on each box, as `cores`.
  std::map<std::string, std::vector<int>> cores_of_box{};
  std::string limits_by{};           ///< What enforces the limits of jobs, in words.
  std::vector<std::string> notes{};  ///< Notes for the operator.
};

/// Returns the processors to allocate on the box of a node, or on this machine.
const std::vector<int>& cores_of(const Machine& machine, NodeId node);

/// Returns this machine. `cluster_file` "": as found, with the driver's GPUs, all processors, and
/// all but a tenth of the memory. With `makes_instances`, which lets the service change the
/// driver's state, GPUs in MIG mode with a known board can be partitioned; otherwise only the
/// existing instances are used.
Result<Machine> find_machine(const std::string& cluster_file, bool makes_instances = false);

}  // namespace almanac::machine
