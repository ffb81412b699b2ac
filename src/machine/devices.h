// SPDX-License-Identifier: Apache-2.0

/// \file
/// The devices of this machine that CUDA can use: whole GPUs, and MIG instances of partitioned
/// GPUs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/slices/board.h"
#include "profiling/machine.h"

namespace almanac::machine {

struct Device {
  std::string name{};           ///< As in CUDA_VISIBLE_DEVICES: "0", "GPU-1a2b...", "MIG-...".
  std::optional<int> number{};  ///< The driver's index of a whole GPU, if it knows it.
  std::string type{};           ///< "NVIDIA A100-SXM4-80GB" or "1g.10gb"; "" if unknown.
  double memory_gb = 0;         ///< As the driver counts; 0 if unknown.
  const slices::Board* board = nullptr;  ///< Set if the service partitions it as jobs need.

  bool is_instance() const { return !number && name.starts_with("MIG-"); }
};

struct Devices {
  /// Whole GPUs, boards by name, then instances by size and place.
  std::vector<Device> all{};
  std::vector<std::string> notes{};  ///< Devices that cannot be used, one line each.
};

/// Returns the devices. Existing instances are used as they are; instances without their own device
/// are ignored. With `as_boards`, a partitioned GPU of a known board is one device.
Devices find_devices(const profiling::Machine& machine, bool as_boards);

}  // namespace almanac::machine
