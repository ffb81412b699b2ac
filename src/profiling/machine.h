// SPDX-License-Identifier: Apache-2.0

/// \file
/// The resources of this machine that a profile can use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml.h"
#include "gpu/visible.h"
#include "process/cgroup.h"

namespace almanac::profiling {

/// The machine on which the process runs.
struct Machine {
  std::vector<int> cpus{};  ///< Cores that the process may use.
  double memory_gb = 0;     ///< Physical memory (2^30 bytes).
  std::optional<gpu::Nvml> nvml{};
  std::string no_nvml{};             ///< Why NVML is not available.
  std::vector<gpu::Visible> gpus{};  ///< Those that CUDA_VISIBLE_DEVICES allows.
  process::CgroupTree cgroups{};

  /// Returns the name of the first GPU; "" without GPUs or NVML.
  std::string gpu_type() const { return nvml && !gpus.empty() ? name_of(gpus.front()) : ""; }

 private:
  std::string name_of(const gpu::Visible& gpu) const { return gpu.gpu ? nvml->name(*gpu.gpu) : ""; }
};

Machine this_machine();

}  // namespace almanac::profiling
