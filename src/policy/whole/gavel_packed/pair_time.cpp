// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/gavel_packed/pair_time.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rules/timeshare/packed.h"

namespace almanac::policy {
Unit unit_of(const SharerKind& kind, std::uint64_t type) {
  return {.one = kind, .other = kind, .is_pair = false, .type = type};
}

Unit unit_of(const SharerKind& one, const SharerKind& other, std::uint64_t type) {
  return {
      .one = std::min(one, other), .other = std::max(one, other), .is_pair = true, .type = type};
}

std::map<Unit, double> divide_among_pairs(std::span<const JobId> jobs,
                                          const std::vector<Stock>& stock, VcId vc,
                                          const std::function<std::vector<double>(JobId)>& rates,
                                          SharerKinds& kinds, timeshare::PackedPrograms& programs,
                                          const View& view, const cluster::Ledger& ledger) {
  timeshare::Problem problem;
  for (const Stock& each : stock) problem.gpus.push_back(each.gpus());
  std::vector<SharerKind> known;
  std::vector<JobId> one_of;
  std::map<SharerKind, std::size_t> place_of;
  const auto asked = [&](JobId job) -> const cluster::Demand& {
    return view.demand(view.progress(job).demand);
  };
  for (const JobId job : jobs) {
    if (asked(job).is_cpu_job()) continue;
    const auto [at, is_new] = place_of.try_emplace(kinds.of(job, view), known.size());
    if (!is_new) {
      ++problem.jobs[at->second].count;
      continue;
    }
    known.push_back(at->first);
    one_of.push_back(job);
    problem.jobs.push_back({.rates = rates(job), .gpus = std::max(1, int{asked(job).gpus})});
  }
  std::map<Unit, double> due;
  if (problem.jobs.empty()) return due;
  const auto beside = [&](std::size_t type, std::size_t one,
                          std::size_t other) -> std::array<double, 2> {
    if (view.speeds == nullptr) return {0, 0};
    const std::vector<SharerRate> rated =
        rates_together(std::array{one_of[one], one_of[other]}, problem.jobs[one].gpus,
                       stock[type].gpu_type, vc, view, ledger);
    if (rated.empty()) return {0, 0};
    const auto kept = [&](std::size_t at, const SharerRate& rate) {
      const double alone = problem.jobs[at].rates[type];
      const bool runs = alone > 0 && !asked(one_of[at]).is_part();
      return runs ? alone * rate.beside / rate.alone : 0;
    };
    return {kept(one, rated.front()), kept(other, rated.back())};
  };
  const timeshare::Packing& packing = programs.solve(problem, beside);
  for (std::size_t type = 0; type < stock.size(); ++type) {
    const auto add = [&](const Unit& unit, double time) {
      if (time > 0) due[unit] += time;
    };
    for (std::size_t kind = 0; kind < known.size(); ++kind) {
      add(unit_of(known[kind], stock[type].gpu_type), packing.alone[kind][type]);
    }
    for (const timeshare::Packing::Pair& pair : packing.pairs) {
      add(unit_of(known[pair.one], known[pair.other], stock[type].gpu_type), pair.times[type]);
    }
  }
  return due;
}

}  // namespace almanac::policy
