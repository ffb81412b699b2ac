// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/typed_program.h"

#include <algorithm>
#include <cmath>

#include "rules/solver/whole_program.h"

namespace almanac::elastic {
namespace {

constexpr float kMostCost = 3000;

struct Column {
  std::size_t job = 0;
  std::size_t configuration = 0;
};

}  // namespace

float typed_cost(const TypedJob& job, std::size_t configuration, double fairness) {
  auto goodput = static_cast<float>(job.goodputs[configuration]);
  if (job.present && configuration != *job.present) {
    goodput *= static_cast<float>(job.restart_factor);
  }
  const float cost = std::pow(goodput, static_cast<float>(fairness));
  return std::min(std::nearbyint(cost * 100) / 100, kMostCost);
}

std::optional<TypedChoice> choose_types(std::span<const TypedConfiguration> configurations,
                                        std::span<const int> gpus_by_type,
                                        std::span<const TypedJob> jobs, const TypedTerms& terms) {
  std::vector<double> most(gpus_by_type.begin(), gpus_by_type.end());
  std::vector<std::size_t> free;
  std::vector<double> costs;
  TypedChoice made{.chosen = std::vector<std::optional<std::size_t>>(jobs.size())};
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    made.objective += terms.idle_price;
    if (jobs[job].is_frozen && jobs[job].present) {
      const std::size_t kept = *jobs[job].present;
      made.chosen[job] = kept;
      made.objective += typed_cost(jobs[job], kept, terms.fairness) - terms.idle_price;
      most[configurations[kept].type] -= configurations[kept].gpus;
      if (most[configurations[kept].type] < 0) return std::nullopt;
      continue;
    }
    free.push_back(job);
  }

  using solver::WholeProgram;
  WholeProgram program;
  for (const double gpus : most) program.add_row(WholeProgram::kNoLeast, gpus);
  std::vector<Column> columns;
  for (const std::size_t job : free) {
    const int row = program.add_row(WholeProgram::kNoLeast, 1);
    for (std::size_t each = 0; each < configurations.size(); ++each) {
      const double cost = typed_cost(jobs[job], each, terms.fairness) - terms.idle_price;
      if (cost >= 0) continue;
      const TypedConfiguration& configuration = configurations[each];
      const WholeProgram::Term holds[] = {
          {static_cast<int>(configuration.type), static_cast<double>(configuration.gpus)},
          {row, 1}};
      program.add_column(cost, 1, holds);
      columns.push_back({.job = job, .configuration = each});
      costs.push_back(cost);
    }
  }
  if (columns.empty()) return made;
  const auto solution = program.minimise();
  if (!solution) return made;  // none better than no GPUs was found
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if ((*solution)[at] == 0) continue;
    made.chosen[columns[at].job] = columns[at].configuration;
    made.objective += costs[at];
  }
  return made;
}

}  // namespace almanac::elastic
