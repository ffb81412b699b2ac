// SPDX-License-Identifier: Apache-2.0
#include "process/cpus.h"

#include <memory>

#include <sched.h>

namespace almanac::process {

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  // The kernel refuses a set that is smaller than its own.
  for (int most = CPU_SETSIZE; most <= 1 << 16; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(most), [](cpu_set_t* made) { CPU_FREE(made); });
    const std::size_t size = CPU_ALLOC_SIZE(most);
    if (::sched_getaffinity(0, size, set.get()) != 0) continue;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set.get())) cpus.push_back(cpu);
    }
    break;
  }
  return cpus;
}

bool bind_to_cpus(pid_t thread, const int* cpus, int count) {
  const auto most = static_cast<std::size_t>(cpus[count - 1]) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(most), [](cpu_set_t* made) { CPU_FREE(made); });
  const std::size_t size = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(size, set.get());
  for (int at = 0; at < count; ++at) {
    CPU_SET_S(static_cast<std::size_t>(cpus[at]), size, set.get());
  }
  return ::sched_setaffinity(thread, size, set.get()) == 0;
}

}  // namespace almanac::process
