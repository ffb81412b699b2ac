// SPDX-License-Identifier: Apache-2.0
#include "study/host_use.h"

#include <cmath>

#include "study/utilization_file.h"

namespace almanac::study {

Result<HostUse> read_host_use(const std::string& cpu_path, const std::string& memory_path) {
  HostUse use;
  if (!cpu_path.empty()) {
    const auto read = read_utilization(cpu_path, 1, [&](const UtilizationRow& row) {
      if (!std::isnan(row.values[0])) use.cpu.add(row.values[0]);
    });
    if (!read) return tl::unexpected(read.error());
  }
  if (!memory_path.empty()) {
    const auto read = read_utilization(memory_path, 2, [&](const UtilizationRow& row) {
      const double total = row.values[0];
      const double free = row.values[1];
      if (total > 0 && !std::isnan(free)) use.memory.add(100 * (total - free) / total);
    });
    if (!read) return tl::unexpected(read.error());
  }
  return use;
}

}  // namespace almanac::study
