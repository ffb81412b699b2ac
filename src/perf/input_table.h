// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast cores and memory feed a GPU, as measured: a grid with linear interpolation.
/// input_curve.h smooths and extrapolates; this repeats the measurements.
///
/// Below the smallest number of cores, speed falls proportionally; beyond the other edges it is
/// constant.
#pragma once

#include <cstddef>
#include <vector>

namespace almanac::perf {

class InputTable {
 public:
  /// Both axes rise; `speeds` has a row for each number of cores, relative to what the GPU takes.
  InputTable(std::vector<double> cpus, std::vector<double> memory_gb, std::vector<double> speeds);

  double operator()(double cpus_per_gpu, double memory_gb_per_gpu) const;
  const std::vector<double>& cpus() const { return cpus_; }
  const std::vector<double>& memory_gb() const { return memory_gb_; }
  double at(std::size_t cpus, std::size_t memory) const {
    return speeds_[cpus * memory_gb_.size() + memory];
  }

 private:
  std::vector<double> cpus_;
  std::vector<double> memory_gb_;
  std::vector<double> speeds_;
};

}  // namespace almanac::perf
