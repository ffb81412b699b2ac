// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processes that compute on a GPU, and their GPU memory, as NVML lists them.
///
/// Source   NVML API reference, nvmlDeviceGetComputeRunningProcesses. Under one name (.._v3),
///          drivers write entries of 16, 24 or 32 bytes: NVIDIA/go-nvml issue 75 and
///          XuehaiPan/nvitop pull requests 79 and 226 have seen each. So the size of an entry is
///          inferred from what the driver has written, not from the name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace almanac::gpu {

/// A process that computes on a GPU.
struct Holder {
  pid_t process = 0;  ///< By the numbers of the machine's first PID namespace.
  /// Including its CUDA context; nothing if the driver does not report it.
  std::optional<double> memory_gb{};

  bool operator==(const Holder&) const = default;
};

/// NVML's function: a device, the number of entries with room and written, the entries.
using ListProcesses = int (*)(void* device, unsigned* count, void* entries);

constexpr int kFine = 0;  ///< NVML_SUCCESS.

struct Holders {
  int status = kFine;          ///< NVML's.
  bool is_understood = false;  ///< Entries were of a length that we know.
  std::vector<Holder> all{};   ///< In order of process, each once.
};

Holders list_holders(ListProcesses ask, void* device);

/// Merges two lists; for a process in both, the larger figure counts.
std::vector<Holder> joined(const std::vector<Holder>& some, const std::vector<Holder>& others);

}  // namespace almanac::gpu
