// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "perf/fit_parts.h"

namespace almanac::perf {
namespace {

/// ln(speed / speed on the first type) of each model, the mean of its batches.
std::map<std::string, double> ratios_of(std::span<const Measurement> rows, const std::string& first,
                                        const std::string& type) {
  std::map<std::pair<std::string, double>, double> base;
  for (const Measurement& row : rows) {
    if (row.gpu_type == first) base[{row.model, row.batch}] = row.throughput;
  }
  std::map<std::string, std::pair<double, int>> sums;
  for (const Measurement& row : rows) {
    const auto found = base.find({row.model, row.batch});
    if (row.gpu_type != type || found == base.end()) continue;
    auto& [sum, count] = sums[row.model];
    sum += std::log(row.throughput / found->second);
    ++count;
  }
  std::map<std::string, double> ratios;
  for (const auto& [model, sum] : sums) ratios[model] = sum.first / sum.second;
  return ratios;
}

GpuClass class_of(std::span<const Measurement> rows, const std::string& first,
                  const std::string& type) {
  const auto ratios = ratios_of(rows, first, type);
  const auto count = static_cast<double>(ratios.size());
  double sum = 0;
  for (const auto& [model, ratio] : ratios) sum += ratio;
  double seen = 0;
  double held_out = 0;
  for (const auto& [model, ratio] : ratios) {
    seen += std::pow(ratio - sum / count, 2);
    if (count > 1) held_out += std::pow(ratio - (sum - ratio) / (count - 1), 2);
  }
  GpuClass made{.type = type};
  made.speed = std::exp(sum / count);
  made.speed_error = {root_mean(seen, ratios.size()),
                      count > 1 ? root_mean(held_out, ratios.size()) : kNotSaid};
  return made;
}

}  // namespace

std::vector<GpuClass> fit_gpus(std::span<const Measurement> rows, const std::string& first) {
  std::vector<GpuClass> gpus{GpuClass{.type = first}};
  std::map<std::string, int> types;
  for (const Measurement& row : rows) ++types[row.gpu_type];
  for (const auto& [type, count] : types) {
    if (type != first && !ratios_of(rows, first, type).empty()) {
      gpus.push_back(class_of(rows, first, type));
    }
  }
  return gpus;
}

}  // namespace almanac::perf
