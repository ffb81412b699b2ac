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
  if (auto driver = gpu::open_driver()) {
    machine.driver = *std::move(driver);
    for (int at = 0; at < machine.driver->count(); ++at) {
      uuids.push_back(machine.driver->uuid(at));
    }
    machine.visible_variable = machine.driver->visible_variable();
  } else {
    machine.no_driver = driver.error().message;
  }
  const char* given = std::getenv(machine.visible_variable.c_str());
  // HIP reads it too, where its own is not set.
  if (given == nullptr) given = std::getenv("CUDA_VISIBLE_DEVICES");
  machine.gpus = gpu::visible_gpus(
      given == nullptr ? std::nullopt : std::optional<std::string_view>(given), uuids);
  return machine;
}

}  // namespace almanac::profiling
