// SPDX-License-Identifier: Apache-2.0

/// \file
/// How one GPU of a machine reaches another.
#pragma once

#include <cstdint>

namespace almanac::gpu {

/// What of the machine lies between two GPUs that do not go by NVLink.
///
/// Source   NVML API reference, nvmlGpuTopologyLevel_t.
enum class Ancestor : std::uint8_t {
  not_told,
  board,       ///< They are two of one board.
  one_switch,  ///< Of PCIe.
  switches,    ///< Several of PCIe.
  bridge,      ///< To the host.
  socket,      ///< Several bridges of one NUMA node.
  system,      ///< They are of two NUMA nodes.
};

struct Route {
  int nvlinks = 0;  ///< That are up, to the other or to switches that the other has links to.
  Ancestor by{};
};

}  // namespace almanac::gpu
