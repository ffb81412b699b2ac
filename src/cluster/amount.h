// SPDX-License-Identifier: Apache-2.0

/// \file
/// A quantity of node resources: GPUs, cores and memory.
///
/// Cores are counted in thousandths and memory in MB (1,000 to a GB). Both are whole numbers, so
/// that sums of what is taken and returned stay exact.
#pragma once

#include <algorithm>
#include <cstdint>

namespace almanac::cluster {

struct Amount {
  std::int32_t gpus = 0;
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;

  /// Whether this amount is at least `other` in every resource.
  bool covers(const Amount& other) const {
    return gpus >= other.gpus && cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb;
  }
  bool empty() const { return gpus == 0 && cpu_milli == 0 && memory_mb == 0; }
  double cpus() const { return cpu_milli / 1e3; }
  double memory_gb() const { return memory_mb / 1e3; }

  Amount& operator+=(const Amount& other) {
    gpus += other.gpus;
    cpu_milli += other.cpu_milli;
    memory_mb += other.memory_mb;
    return *this;
  }
  Amount& operator-=(const Amount& other) { return *this += other * -1; }
  friend Amount operator+(Amount a, const Amount& b) { return a += b; }
  friend Amount operator-(Amount a, const Amount& b) { return a -= b; }
  friend Amount operator*(const Amount& a, std::int32_t times) {
    return {a.gpus * times, a.cpu_milli * times, a.memory_mb * times};
  }
  bool operator==(const Amount&) const = default;
};

/// Returns the smaller, and `most` the larger, of the two amounts for each resource.
inline Amount least(const Amount& a, const Amount& b) {
  return {std::min(a.gpus, b.gpus), std::min(a.cpu_milli, b.cpu_milli),
          std::min(a.memory_mb, b.memory_mb)};
}
inline Amount most(const Amount& a, const Amount& b) {
  return {std::max(a.gpus, b.gpus), std::max(a.cpu_milli, b.cpu_milli),
          std::max(a.memory_mb, b.memory_mb)};
}

/// Cores or memory of a node whose size is unknown; more than any job requests.
inline constexpr std::int32_t kUnbounded = std::int32_t{1} << 30;

/// Converts cores and GB. Values above kUnbounded become kUnbounded.
std::int32_t cpu_milli(double cpus);
std::int32_t memory_mb(double gb);

}  // namespace almanac::cluster
