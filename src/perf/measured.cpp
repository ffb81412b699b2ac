// SPDX-License-Identifier: Apache-2.0
#include "perf/measured.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "perf/model_name.h"

namespace almanac::perf {
namespace {

/// Throughput by cores and memory of a GPU.
using Cells = std::map<std::pair<double, double>, double>;

/// The least cores and memory that are as fast as the most.
InputCurve enough_of(const InputTable& table) {
  for (std::size_t cpus = 0; cpus < table.cpus().size(); ++cpus) {
    for (std::size_t memory = 0; memory < table.memory_gb().size(); ++memory) {
      if (table.at(cpus, memory) < 1) continue;
      return {.enough_cpus = table.cpus()[cpus],
              .power = 1,
              .disk = 0,
              .dataset_gb = table.memory_gb()[memory]};
    }
  }
  return {};
}

Result<Input> input_of(const std::string& model, const Cells& cells, const Profile& profile,
                       const std::string& path) {
  std::set<double> cpus;
  std::set<double> memory_gb;
  double most = 0;
  for (const auto& [point, throughput] : cells) {
    cpus.insert(point.first);
    memory_gb.insert(point.second);
    most = std::max(most, throughput);
  }
  std::vector<double> speeds;
  for (const double cores : cpus) {
    for (const double gb : memory_gb) {
      const auto cell = cells.find({cores, gb});
      if (cell == cells.end()) {
        return fail(Code::invalid,
                    fmt::format("{} was not measured with {} cores and {} GB a GPU: a table needs "
                                "each number of cores with each amount of memory",
                                model, cores, gb),
                    {path}, "fit a curve to what there is: almanac perf fit");
      }
      speeds.push_back(cell->second / most);
    }
  }
  auto table = std::make_shared<const InputTable>(
      std::vector<double>(cpus.begin(), cpus.end()),
      std::vector<double>(memory_gb.begin(), memory_gb.end()), std::move(speeds));
  return Input{.curve = enough_of(*table),
               .source = profile.source,
               .gpu_type = "",
               .error = {},
               .table = std::move(table)};
}

}  // namespace

Result<Catalogue> as_measured(const Profile& profile, const std::string& path) {
  std::map<std::string, Cells> models;
  for (const Measurement& row : profile.rows) {
    const bool counts = row.gpus == 1 && row.neighbour.empty() && row.throughput > 0 &&
                        !std::isnan(row.cpus_per_gpu) && !std::isnan(row.memory_gb_per_gpu);
    if (counts) models[row.model][{row.cpus_per_gpu, row.memory_gb_per_gpu}] = row.throughput;
  }
  if (models.empty()) {
    return fail(Code::invalid, "no model was measured on one GPU with known cores and memory",
                {path});
  }
  Catalogue catalogue;
  for (const auto& [name, cells] : models) {
    Result<Input> input = input_of(name, cells, profile, path);
    if (!input) return tl::unexpected(input.error());
    catalogue.models.push_back({.name = name,
                                .kind = std::string(kind_of(name)),
                                .input = std::move(*input),
                                .boards = {}});
  }
  return catalogue;
}

}  // namespace almanac::perf
