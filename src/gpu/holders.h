// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which processes compute on a GPU and how much of its memory each holds, as NVML lists it.
///
/// Source   NVML API reference, nvmlDeviceGetComputeRunningProcesses. Under the one name
///          (.._v3) drivers write entries of 16, 24 or 32 bytes: NVIDIA/go-nvml issue 75 and
///          XuehaiPan/nvitop pull requests 79 and 226 have seen each. So how long an entry is we
///          learn from what the driver has written, not from the name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace almanac::gpu {

/// A process that computes on a GPU.
struct Holder {
  pid_t process = 0;                  ///< By the numbers of the machine's first PID namespace.
  std::optional<double> memory_gb{};  ///< With its CUDA context; nothing where the driver does not
                                      ///< tell.

  bool operator==(const Holder&) const = default;
};

/// What NVML exports: a device, how many entries there is room for and were written, the entries.
using ListProcesses = int (*)(void* device, unsigned* count, void* entries);

constexpr int kFine = 0;  ///< NVML_SUCCESS.

struct Holders {
  int status = kFine;          ///< NVML's.
  bool is_understood = false;  ///< Entries were of a length that we know.
  std::vector<Holder> all{};   ///< In order of process, each once.
};

Holders list_holders(ListProcesses ask, void* device);

/// Those of both lists; of a process in both, the greater figure.
std::vector<Holder> joined(const std::vector<Holder>& some, const std::vector<Holder>& others);

}  // namespace almanac::gpu
