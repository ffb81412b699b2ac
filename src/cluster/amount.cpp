// SPDX-License-Identifier: Apache-2.0
#include "cluster/amount.h"

#include <algorithm>
#include <cmath>

namespace almanac::cluster {
namespace {

/// Never nothing of something, which would be free however often it is taken.
std::int32_t thousandths(double value) {
  const auto whole =
      static_cast<std::int32_t>(std::llround(std::min(1e3 * value, double{kUnbounded})));
  return value > 0 ? std::max(1, whole) : whole;
}

}  // namespace

std::int32_t cpu_milli(double cpus) { return thousandths(cpus); }

std::int32_t memory_mb(double gb) { return thousandths(gb); }

}  // namespace almanac::cluster
