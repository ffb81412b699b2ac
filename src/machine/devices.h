// SPDX-License-Identifier: Apache-2.0

/// \file
/// What CUDA can be given of this machine: whole GPUs, and the instances of those that are cut
/// (MIG).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/slices/board.h"
#include "profiling/machine.h"

namespace almanac::machine {

struct Device {
  std::string name{};           ///< As CUDA_VISIBLE_DEVICES has it: "0", "GPU-1a2b...", "MIG-...".
  std::optional<int> number{};  ///< NVML's, of a whole GPU that it knows.
  std::string type{};           ///< "NVIDIA A100-SXM4-80GB", or "1g.10gb"; "" = not told.
  double memory_gb = 0;         ///< As the driver counts; 0 = not told.
  const slices::Board* board = nullptr;  ///< It is to be cut in instances as jobs need them.

  bool is_instance() const { return !number && name.starts_with("MIG-"); }
};

struct Devices {
  /// Whole GPUs, boards by name, then instances by size, then by where they are.
  std::vector<Device> all{};
  std::vector<std::string> notes{};  ///< What cannot be used, one line each.
};

/// Instances are taken as they stand; those without a device of their own are none of ours. With
/// `as_boards` a GPU that is cut is one device where its board is known.
Devices find_devices(const profiling::Machine& machine, bool as_boards);

}  // namespace almanac::machine
