// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/best_mix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

#include <Cbc_C_Interface.h>

#include "base/check.h"

namespace almanac::policy {
namespace {

/// Whether a job that may have `a` never wants `b`. Of equal ones the first counts.
bool beats(const SizeChoice& a, const SizeChoice& b) {
  return a.cpu_milli <= b.cpu_milli && a.memory_mb <= b.memory_mb && a.throughput >= b.throughput;
}

bool is_beaten(std::span<const SizeChoice> choices, std::size_t at) {
  for (std::size_t other = 0; other < choices.size(); ++other) {
    if (other == at || !beats(choices[other], choices[at])) continue;
    if (other < at || !beats(choices[at], choices[other])) return true;
  }
  return false;
}

/// A program in the column form that CBC takes.
struct Program {
  static constexpr int kCpuRow = 0;
  static constexpr int kMemoryRow = 1;
  static constexpr double kNoBound = -std::numeric_limits<double>::max();

  struct Column {
    std::size_t kind;
    std::size_t choice;
  };

  Program(std::span<const JobKind> kinds, std::int64_t cpu_milli, std::int64_t memory_mb)
      : row_least{kNoBound, kNoBound},
        row_most{static_cast<double>(cpu_milli), static_cast<double>(memory_mb)} {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) add(kinds[kind], kind);
    starts.push_back(static_cast<int>(values.size()));
  }

  void add(const JobKind& of, std::size_t kind) {
    const int row = static_cast<int>(row_least.size());
    for (std::size_t choice = 0; choice < of.choices.size(); ++choice) {
      if (is_beaten(of.choices, choice)) continue;
      const SizeChoice& each = of.choices[choice];
      columns.push_back({kind, choice});
      starts.push_back(static_cast<int>(values.size()));
      rows.insert(rows.end(), {kCpuRow, kMemoryRow, row});
      values.insert(values.end(), {static_cast<double>(each.cpu_milli),
                                   static_cast<double>(each.memory_mb), 1.0});
      worth.push_back(each.throughput);
      most.push_back(of.jobs);
    }
    row_least.push_back(of.jobs);
    row_most.push_back(of.jobs);
  }

  std::vector<Column> columns;
  std::vector<int> starts;
  std::vector<int> rows;
  std::vector<double> values;
  std::vector<double> worth;
  std::vector<double> most;
  std::vector<double> row_least;
  std::vector<double> row_most;
};

/// The fastest choice of each job, of equal ones one that takes no more, where all of them fit: no
/// program has to say so.
std::optional<Mix> all_best(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                            std::int64_t memory_mb) {
  Mix mix;
  for (const JobKind& kind : kinds) {
    const auto best = std::max_element(kind.choices.begin(), kind.choices.end(),
                                       [](const SizeChoice& a, const SizeChoice& b) {
                                         if (a.throughput != b.throughput) {
                                           return a.throughput < b.throughput;
                                         }
                                         return beats(b, a) && !beats(a, b);
                                       });
    cpu_milli -= kind.jobs * best->cpu_milli;
    memory_mb -= kind.jobs * best->memory_mb;
    if (cpu_milli < 0 || memory_mb < 0) return std::nullopt;
    std::vector<int>& chosen = mix.emplace_back(kind.choices.size(), 0);
    chosen[static_cast<std::size_t>(best - kind.choices.begin())] = kind.jobs;
  }
  return mix;
}

}  // namespace

std::optional<Mix> best_mix(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                            std::int64_t memory_mb) {
  Mix mix;
  for (const JobKind& kind : kinds) {
    ALMANAC_CHECK(kind.jobs > 0 && !kind.choices.empty(), "a kind of {} jobs has {} choices",
                  kind.jobs, kind.choices.size());
    mix.emplace_back(kind.choices.size(), 0);
  }
  if (auto all = all_best(kinds, cpu_milli, memory_mb)) return all;

  const Program program(kinds, cpu_milli, memory_mb);
  const int num_columns = static_cast<int>(program.columns.size());
  const std::vector<double> least(program.columns.size(), 0.0);
  // Its parameters are global.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> solver(Cbc_newModel(),
                                                                      &Cbc_deleteModel);
  Cbc_setLogLevel(solver.get(), 0);
  Cbc_loadProblem(solver.get(), num_columns, static_cast<int>(program.row_least.size()),
                  program.starts.data(), program.rows.data(), program.values.data(), least.data(),
                  program.most.data(), program.worth.data(), program.row_least.data(),
                  program.row_most.data());
  for (int column = 0; column < num_columns; ++column) Cbc_setInteger(solver.get(), column);
  Cbc_setObjSense(solver.get(), -1);  // the most
  Cbc_setAllowableGap(solver.get(), 1e-7);
  Cbc_setAllowableFractionGap(solver.get(), 0);
  Cbc_setMaximumNodes(solver.get(), 100'000);  // then the best found by then; no clock decides
  Cbc_solve(solver.get());
  const double* const solution = Cbc_bestSolution(solver.get());
  if (Cbc_isProvenInfeasible(solver.get()) != 0 || solution == nullptr) return std::nullopt;

  std::vector<int> given(kinds.size(), 0);
  for (std::size_t column = 0; column < program.columns.size(); ++column) {
    const auto [kind, choice] = program.columns[column];
    const int jobs = static_cast<int>(std::lround(solution[column]));
    mix[kind][choice] = jobs;
    given[kind] += jobs;
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    ALMANAC_CHECK(given[kind] == kinds[kind].jobs, "{} of {} jobs have a choice", given[kind],
                  kinds[kind].jobs);
  }
  return mix;
}

}  // namespace almanac::policy
