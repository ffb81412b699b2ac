// SPDX-License-Identifier: Apache-2.0

/// \file
/// A machine of eight processors, whatever it has: preloaded (LD_PRELOAD) before the C library, it
/// answers when it is asked which processors there are. Binding to them does nothing; the training
/// of the tests is told its cores in words.
#include <sched.h>

extern "C" {

int sched_getaffinity(pid_t, size_t size, cpu_set_t* set) noexcept {
  CPU_ZERO_S(size, set);
  for (size_t cpu = 0; cpu < 8; ++cpu) CPU_SET_S(cpu, size, set);
  return 0;
}

int sched_setaffinity(pid_t, size_t, const cpu_set_t*) noexcept { return 0; }

}  // extern "C"
