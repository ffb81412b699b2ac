// SPDX-License-Identifier: Apache-2.0
#include "base/keep_memory.h"

#include <limits>

#include <malloc.h>

namespace almanac {

void keep_memory() {
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  constexpr int kMost = 32 << 20;  // mallopt(3)
  ::mallopt(M_MMAP_THRESHOLD, kMost);
}

}  // namespace almanac
