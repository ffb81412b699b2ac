// SPDX-License-Identifier: Apache-2.0
#include "profiling/machine.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "process/cpus.h"

namespace almanac::profiling {

Machine this_machine() {
  Machine machine;
  machine.cpus = process::allowed_cpus();
  machine.memory_gb = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024 * 1024);
  machine.cgroups = process::cgroup_tree();
  std::vector<std::string> uuids;
  if (auto nvml = gpu::Nvml::open()) {
    for (int at = 0; at < nvml->count(); ++at) uuids.push_back(nvml->uuid(at));
    machine.nvml.emplace(std::move(*nvml));
  } else {
    machine.no_nvml = nvml.error().message;
  }
  const char* const given = std::getenv("CUDA_VISIBLE_DEVICES");
  machine.gpus = gpu::visible_gpus(
      given == nullptr ? std::nullopt : std::optional<std::string_view>(given), uuids);
  return machine;
}

}  // namespace almanac::profiling
