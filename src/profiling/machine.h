// SPDX-License-Identifier: Apache-2.0

/// \file
/// The resources of this machine that a profile can use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "gpu/visible.h"
#include "process/cgroup.h"

namespace almanac::profiling {

/// The machine on which the process runs.
struct Machine {
  std::vector<int> cpus{};  ///< Cores that the process may use.
  double memory_gb = 0;     ///< Physical memory (2^30 bytes).
  std::unique_ptr<gpu::Driver> driver{};
  std::string no_driver{};                                ///< Why there is none.
  std::string visible_variable = "CUDA_VISIBLE_DEVICES";  ///< By which commands get GPUs.
  std::vector<gpu::Visible> gpus{};                       ///< Those that it allows.
  process::CgroupTree cgroups{};

  /// Returns the name of the first GPU; "" without GPUs or driver.
  std::string gpu_type() const { return driver && !gpus.empty() ? name_of(gpus.front()) : ""; }

 private:
  std::string name_of(const gpu::Visible& gpu) const {
    return gpu.gpu ? driver->name(*gpu.gpu) : "";
  }
};

Machine this_machine();

}  // namespace almanac::profiling
