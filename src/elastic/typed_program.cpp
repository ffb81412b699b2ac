// SPDX-License-Identifier: Apache-2.0
#include "elastic/typed_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

#include <Cbc_C_Interface.h>

namespace almanac::elastic {
namespace {

constexpr double kNoBound = -std::numeric_limits<double>::max();
constexpr float kMostCost = 3000;

struct Column {
  std::size_t job = 0;
  std::size_t configuration = 0;
};

/// In the column form that CBC takes: a row a type, then a row a job.
struct TypedColumns {
  std::vector<Column> columns;
  std::vector<int> starts;
  std::vector<int> rows;
  std::vector<double> values;
  std::vector<double> costs;

  void add(Column column, const TypedConfiguration& configuration, std::size_t types, double cost) {
    columns.push_back(column);
    starts.push_back(static_cast<int>(values.size()));
    rows.insert(rows.end(),
                {static_cast<int>(configuration.type), static_cast<int>(types + column.job)});
    values.insert(values.end(), {static_cast<double>(configuration.gpus), 1.0});
    costs.push_back(cost);
  }
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
  const std::size_t types = gpus_by_type.size();
  TypedColumns program;
  std::vector<double> most(types + jobs.size(), 1.0);
  std::copy(gpus_by_type.begin(), gpus_by_type.end(), most.begin());
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
    for (std::size_t each = 0; each < configurations.size(); ++each) {
      const double cost = typed_cost(jobs[job], each, terms.fairness) - terms.idle_price;
      if (cost < 0)
        program.add({.job = job, .configuration = each}, configurations[each], types, cost);
    }
  }
  if (program.columns.empty()) return made;
  program.starts.push_back(static_cast<int>(program.values.size()));

  const std::vector<double> none(program.columns.size(), 0.0);
  const std::vector<double> one(program.columns.size(), 1.0);
  const std::vector<double> least(most.size(), kNoBound);
  // Its parameters are global.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> solver(Cbc_newModel(),
                                                                      &Cbc_deleteModel);
  Cbc_setLogLevel(solver.get(), 0);
  Cbc_loadProblem(solver.get(), static_cast<int>(program.columns.size()),
                  static_cast<int>(most.size()), program.starts.data(), program.rows.data(),
                  program.values.data(), none.data(), one.data(), program.costs.data(),
                  least.data(), most.data());
  for (int column = 0; column < static_cast<int>(program.columns.size()); ++column) {
    Cbc_setInteger(solver.get(), column);
  }
  Cbc_setAllowableGap(solver.get(), 1e-7);
  Cbc_setAllowableFractionGap(solver.get(), 0);
  Cbc_setMaximumNodes(solver.get(), 100'000);  // then the best found by then; no clock decides
  Cbc_solve(solver.get());
  const double* const solution = Cbc_bestSolution(solver.get());
  if (solution == nullptr) return made;  // none better than no GPUs was found
  for (std::size_t at = 0; at < program.columns.size(); ++at) {
    if (solution[at] < 0.5) continue;
    made.chosen[program.columns[at].job] = program.columns[at].configuration;
    made.objective += program.costs[at];
  }
  return made;
}

}  // namespace almanac::elastic
