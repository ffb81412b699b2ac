// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/best_mix.h"

#include <algorithm>

#include "base/check.h"
#include "rules/solver/whole_program.h"

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

/// The fastest choice of each job, of equal ones one that takes no more, where all of them fit: no
/// program has to say so.
std::optional<JobMix> all_best(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                               std::int64_t memory_mb) {
  JobMix mix;
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

std::optional<JobMix> best_mix(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                               std::int64_t memory_mb) {
  JobMix mix;
  for (const JobKind& kind : kinds) {
    ALMANAC_CHECK(kind.jobs > 0 && !kind.choices.empty(), "a kind of {} jobs has {} choices",
                  kind.jobs, kind.choices.size());
    mix.emplace_back(kind.choices.size(), 0);
  }
  if (auto all = all_best(kinds, cpu_milli, memory_mb)) return all;

  struct Column {
    std::size_t kind;
    std::size_t choice;
  };
  using solver::WholeProgram;
  WholeProgram program;
  const int cpu_row = program.add_row(WholeProgram::kNoLeast, static_cast<double>(cpu_milli));
  const int memory_row = program.add_row(WholeProgram::kNoLeast, static_cast<double>(memory_mb));
  std::vector<Column> columns;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const JobKind& of = kinds[kind];
    const int row = program.add_row(of.jobs, of.jobs);
    for (std::size_t choice = 0; choice < of.choices.size(); ++choice) {
      if (is_beaten(of.choices, choice)) continue;
      const SizeChoice& each = of.choices[choice];
      const WholeProgram::Term terms[] = {{cpu_row, static_cast<double>(each.cpu_milli)},
                                          {memory_row, static_cast<double>(each.memory_mb)},
                                          {row, 1}};
      program.add_column(each.throughput, of.jobs, terms);
      columns.push_back({kind, choice});
    }
  }
  const auto solution = program.maximise();
  if (!solution) return std::nullopt;

  std::vector<int> given(kinds.size(), 0);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto [kind, choice] = columns[column];
    const int jobs = (*solution)[column];
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
