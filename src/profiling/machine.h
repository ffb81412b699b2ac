// SPDX-License-Identifier: Apache-2.0

/// \file
/// What this machine has to profile with, and what it cannot do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml.h"
#include "gpu/visible.h"
#include "process/cgroup.h"

namespace almanac::profiling {

struct Machine {
  std::vector<int> cpus{};
  double memory_gb = 0;
  std::optional<gpu::Nvml> nvml{};
  std::string no_nvml{};  ///< Why there is none.
  std::vector<gpu::Visible> gpus{};
  process::CgroupTree cgroups{};

  std::string gpu_type() const { return nvml && !gpus.empty() ? name_of(gpus.front()) : ""; }

 private:
  std::string name_of(const gpu::Visible& gpu) const { return gpu.gpu ? nvml->name(*gpu.gpu) : ""; }
};

Machine this_machine();

}  // namespace almanac::profiling
