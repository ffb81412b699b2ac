// SPDX-License-Identifier: Apache-2.0
#include "cluster/amount.h"

#include <cmath>

namespace almanac::cluster {
namespace {

std::int32_t thousandths(double value) {
  return static_cast<std::int32_t>(std::llround(std::min(1e3 * value, double{kUnbounded})));
}

}  // namespace

std::int32_t cpu_milli(double cpus) { return thousandths(cpus); }

std::int32_t memory_mb(double gb) { return thousandths(gb); }

}  // namespace almanac::cluster
