// SPDX-License-Identifier: Apache-2.0

/// \file
/// What measures processor time and memory of a piece of a bench.
#pragma once

#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>

namespace almanac::bench {

/// Processor time of this thread so far, in seconds.
inline double processor_s() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Bytes in use now, from the kernel.
inline std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

/// Forgets the peak, so that the next reading is of what follows.
inline void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

inline std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace almanac::bench
