// SPDX-License-Identifier: Apache-2.0
#include "perf/input_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::perf {
namespace {

/// A place on an axis: between `low` and the next point, `part` of the way.
struct Place {
  std::size_t low = 0;
  double part = 0;
};

Place place_of(const std::vector<double>& axis, double value) {
  if (!(value > axis.front())) return {};
  const auto above = std::upper_bound(axis.begin(), axis.end(), value);
  const auto low = static_cast<std::size_t>(above - axis.begin()) - 1;
  if (above == axis.end()) return {low, 0};
  return {low, (value - axis[low]) / (axis[low + 1] - axis[low])};
}

}  // namespace

InputTable::InputTable(std::vector<double> cpus, std::vector<double> memory_gb,
                       std::vector<double> speeds)
    : cpus_(std::move(cpus)), memory_gb_(std::move(memory_gb)), speeds_(std::move(speeds)) {
  ALMANAC_CHECK(!speeds_.empty() && speeds_.size() == cpus_.size() * memory_gb_.size(),
                "{} speeds for {} x {} points", speeds_.size(), cpus_.size(), memory_gb_.size());
}

double InputTable::operator()(double cpus_per_gpu, double memory_gb_per_gpu) const {
  const Place cpus = place_of(cpus_, cpus_per_gpu);
  const Place memory = place_of(memory_gb_, memory_gb_per_gpu);
  const auto along_memory = [&](std::size_t row) {
    const double low = at(row, memory.low);
    return memory.part > 0 ? low + memory.part * (at(row, memory.low + 1) - low) : low;
  };
  double speed = along_memory(cpus.low);
  if (cpus.part > 0) speed += cpus.part * (along_memory(cpus.low + 1) - speed);
  return cpus_per_gpu < cpus_.front() ? speed * cpus_per_gpu / cpus_.front() : speed;
}

}  // namespace almanac::perf
