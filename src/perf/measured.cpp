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

#include "perf/fit.h"
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
  const auto at = [&](double cores, double gb) {
    const auto cell = cells.find({cores, gb});
    return cell == cells.end() ? kNotSaid : cell->second;
  };
  for (const double cores : cpus) {
    for (const double gb : memory_gb) {
      double throughput = at(cores, gb);
      if (std::isnan(throughput)) {
        const double by_cpus = at(cores, *memory_gb.rbegin());
        const double by_memory = at(*cpus.rbegin(), gb);
        throughput = std::isnan(by_cpus) ? by_cpus : std::min(by_memory, by_cpus);
      }
      if (std::isnan(throughput)) {
        return fail(Code::invalid,
                    fmt::format("{} was not measured with {} cores and {} GB per GPU: a table "
                                "needs each number of cores with each amount of memory",
                                model, cores, gb),
                    {path}, "fit a curve to the measurements: almanac perf fit");
      }
      speeds.push_back(throughput / most);
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

/// What the fastest row of its model has, of those fed alike but for cores, if the intervals of
/// both leave open that it is as fast; else its own.
double settled(const Measurement& row, const Profile& profile) {
  const Measurement* fastest = &row;
  for (const Measurement& other : profile.rows) {
    const bool alike = other.model == row.model && other.gpus == 1 && other.neighbour.empty() &&
                       !std::isnan(other.cpus_per_gpu) && other.batch == row.batch;
    if (alike && other.throughput > fastest->throughput) fastest = &other;
  }
  return row.high >= fastest->low ? fastest->throughput : row.throughput;
}

}  // namespace

Result<Catalogue> as_measured(const Profile& profile, const std::string& path) {
  std::map<std::string, Cells> models;
  Profile steps{.source = profile.source, .rows = {}};
  for (const Measurement& row : profile.rows) {
    const bool feeds = !std::isnan(row.cpus_per_gpu) || !std::isnan(row.memory_gb_per_gpu);
    if (!feeds) steps.rows.push_back(row);
    const bool counts = row.gpus == 1 && row.neighbour.empty() && row.throughput > 0 &&
                        !std::isnan(row.cpus_per_gpu);
    const double memory_gb = std::isnan(row.memory_gb_per_gpu) ? 0 : row.memory_gb_per_gpu;
    if (counts) models[row.model][{row.cpus_per_gpu, memory_gb}] = settled(row, profile);
  }
  if (models.empty()) {
    return fail(Code::invalid, "no model was measured on one GPU with known cores", {path});
  }
  Catalogue catalogue;
  if (!steps.rows.empty()) {
    auto fitted = fit({steps});
    if (!fitted) return tl::unexpected(fitted.error());
    catalogue = std::move(fitted->catalogue);
  }
  for (const auto& [name, cells] : models) {
    Result<Input> input = input_of(name, cells, profile, path);
    if (!input) return tl::unexpected(input.error());
    const auto known = std::find_if(catalogue.models.begin(), catalogue.models.end(),
                                    [&, &n = name](const Model& model) { return model.name == n; });
    if (known != catalogue.models.end()) {
      known->input = std::move(*input);
      continue;
    }
    catalogue.models.push_back({.name = name,
                                .kind = std::string(kind_of(name)),
                                .input = std::move(*input),
                                .boards = {}});
  }
  std::sort(catalogue.models.begin(), catalogue.models.end(),
            [](const Model& a, const Model& b) { return a.name < b.name; });
  return catalogue;
}

}  // namespace almanac::perf
