// SPDX-License-Identifier: Apache-2.0

/// \file
/// The connection between two GPUs of a machine.
#pragma once

#include <cstdint>

namespace almanac::gpu {

/// The common ancestor of two GPUs that are not connected by NVLink.
///
/// Source   NVML API reference, nvmlGpuTopologyLevel_t.
enum class Ancestor : std::uint8_t {
  not_told,
  board,       ///< Two GPUs of one board.
  one_switch,  ///< One PCIe switch.
  switches,    ///< Several of PCIe.
  bridge,      ///< To the host.
  socket,      ///< Several bridges of one NUMA node.
  system,      ///< Two NUMA nodes.
};

struct Route {
  int nvlinks = 0;  ///< Active links to the other GPU, or to switches that it is linked to.
  Ancestor by{};
};

}  // namespace almanac::gpu
