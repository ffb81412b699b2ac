// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/packed.h"

#include <utility>

#include "rules/timeshare/levels.h"

namespace almanac::timeshare {
namespace {

std::vector<Way> all_ways(const Problem& kinds, const PairRates& pair_rates) {
  std::vector<Way> ways = ways_alone(kinds);
  for (std::size_t one = 0; one < kinds.jobs.size(); ++one) {
    const Job& job = kinds.jobs[one];
    for (std::size_t other = one; other < kinds.jobs.size(); ++other) {
      if (job.gpus != kinds.jobs[other].gpus || (one == other && job.count < 2)) continue;
      for (std::size_t type = 0; type < kinds.types(); ++type) {
        const auto [rate, rate_beside] = pair_rates(type, one, other);
        if (rate <= 0 || rate_beside <= 0 || kinds.gpus[type] <= 0) continue;
        ways.push_back({.type = type,
                        .gpus = static_cast<double>(job.gpus),
                        .job = one,
                        .rate = rate,
                        .beside = other,
                        .rate_beside = rate_beside});
      }
    }
  }
  return ways;
}

Packing solve(const Problem& kinds, const std::vector<Way>& ways) {
  Levels levels(kinds, ways, fair_needs(kinds));
  levels.fill();
  const std::vector<double> times = levels.times();
  Packing packing;
  packing.alone.assign(kinds.jobs.size(), std::vector<double>(kinds.types(), 0.0));
  for (std::size_t at = 0; at < ways.size(); ++at) {
    const Way& way = ways[at];
    if (!way.beside) {
      packing.alone[way.job][way.type] = times[at];
      continue;
    }
    if (times[at] <= 0) continue;
    if (packing.pairs.empty() || packing.pairs.back().one != way.job ||
        packing.pairs.back().other != *way.beside) {
      packing.pairs.push_back({way.job, *way.beside, std::vector<double>(kinds.types(), 0.0)});
    }
    packing.pairs.back().times[way.type] = times[at];
  }
  return packing;
}

/// Returns all numbers that the program is made of.
std::vector<double> numbers_of(const Problem& kinds, const std::vector<Way>& ways) {
  std::vector<double> numbers{static_cast<double>(kinds.types()),
                              static_cast<double>(kinds.jobs.size())};
  numbers.insert(numbers.end(), kinds.gpus.begin(), kinds.gpus.end());
  for (const Job& job : kinds.jobs) {
    numbers.push_back(job.gpus);
    numbers.push_back(job.weight);
    numbers.push_back(job.count);
    numbers.insert(numbers.end(), job.rates.begin(), job.rates.end());
  }
  for (const Way& way : ways) {
    if (!way.beside) continue;  // those of single jobs follow from the rates
    numbers.push_back(static_cast<double>(way.type));
    numbers.push_back(static_cast<double>(way.job));
    numbers.push_back(static_cast<double>(*way.beside));
    numbers.push_back(way.rate);
    numbers.push_back(way.rate_beside);
  }
  return numbers;
}

}  // namespace

Packing packed_max_min_fairness(const Problem& kinds, const PairRates& pair_rates) {
  return solve(kinds, all_ways(kinds, pair_rates));
}

const Packing& PackedPrograms::solve(const Problem& kinds, const PairRates& pair_rates) {
  constexpr std::size_t kMost = 20'000;
  const std::vector<Way> ways = all_ways(kinds, pair_rates);
  std::vector<double> numbers = numbers_of(kinds, ways);
  const auto known = solved_.find(numbers);
  if (known != solved_.end()) return known->second;
  if (solved_.size() == kMost) solved_.clear();
  return solved_.emplace(std::move(numbers), timeshare::solve(kinds, ways)).first->second;
}

std::vector<double> effective_rates(const Problem& kinds, const Packing& packing,
                                    const PairRates& pair_rates) {
  std::vector<double> rates;
  for (std::size_t kind = 0; kind < kinds.jobs.size(); ++kind) {
    rates.push_back(effective_rate(kinds.jobs[kind], packing.alone[kind]));
  }
  for (const Packing::Pair& pair : packing.pairs) {
    for (std::size_t type = 0; type < kinds.types(); ++type) {
      const auto [rate, rate_beside] = pair_rates(type, pair.one, pair.other);
      rates[pair.one] += rate * pair.times[type];
      rates[pair.other] += rate_beside * pair.times[type];
    }
  }
  for (std::size_t kind = 0; kind < rates.size(); ++kind) rates[kind] /= kinds.jobs[kind].count;
  return rates;
}

}  // namespace almanac::timeshare
