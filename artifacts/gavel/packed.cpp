// SPDX-License-Identifier: Apache-2.0
#include "gavel/packed.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "rules/timeshare/packed.h"
#include "rules/timeshare/programs.h"

namespace almanac::gavel {
namespace {

/// What a pair must do together to be formed, in jobs alone.
constexpr double kWorthPacking = 1.5;
/// Below it a pair is parted, in jobs alone, summed over types.
constexpr double kBadPair = 1;

/// Both rates beside each other, in those alone; 0 where they cannot share.
double together(const Speeds& speeds, std::size_t type, std::size_t one, std::size_t other) {
  const double alone = speeds.alone[one][type];
  const double other_alone = speeds.alone[other][type];
  if (alone <= 0 || other_alone <= 0) return 0;
  const auto [rate, other_rate] = speeds.beside(type, one, other);
  return rate / alone + other_rate / other_alone;
}

Allocation nothing(const State& state) {
  Allocation made;
  made.alone.assign(state.numbers.size(), std::vector<double>(state.problem.types(), 0.0));
  return made;
}

}  // namespace

Allocation FifoPacked::allocate(const State& state) {
  struct Held {
    std::size_t job = 0;
    std::size_t type = 0;
    std::optional<std::size_t> beside{};
  };
  std::vector<Held> held;
  std::vector<double> left = state.problem.gpus;
  std::size_t next = 0;
  for (; next < state.numbers.size(); ++next) {
    const timeshare::Job& job = state.problem.jobs[next];
    std::optional<std::size_t> best;
    for (std::size_t type = 0; type < left.size(); ++type) {
      if (left[type] < job.gpus) continue;
      if (!best || job.rates[type] > job.rates[*best]) best = type;
    }
    if (!best) break;
    if (job.rates[*best] <= 0) continue;
    left[*best] -= job.gpus;
    held.push_back({.job = next, .type = *best});
  }
  for (; next < state.numbers.size(); ++next) {
    Held* best = nullptr;
    double most = kWorthPacking;
    for (Held& each : held) {
      if (each.beside || state.problem.jobs[each.job].gpus != state.problem.jobs[next].gpus) {
        continue;
      }
      const double sum = together(speeds_, each.type, state.kinds[each.job], state.kinds[next]);
      if (sum <= most) continue;
      most = sum;
      best = &each;
    }
    if (best == nullptr) break;
    best->beside = next;
  }
  Allocation allocation = nothing(state);
  for (const Held& each : held) {
    if (!each.beside) {
      allocation.alone[each.job][each.type] = 1;
      continue;
    }
    std::vector<double> row(left.size(), 0.0);
    row[each.type] = 1;
    allocation.pairs.push_back({each.job, *each.beside, std::move(row)});
  }
  return allocation;
}

Allocation MaxMinPacked::allocate(const State& state) {
  std::map<std::pair<std::size_t, double>, std::vector<std::size_t>> alike;  // by kind and weight
  for (std::size_t at = 0; at < state.numbers.size(); ++at) {
    alike[{state.kinds[at], state.problem.jobs[at].weight}].push_back(at);
  }
  timeshare::Problem kinds{.gpus = state.problem.gpus, .jobs = {}};
  std::vector<std::size_t> models;
  std::vector<const std::vector<std::size_t>*> jobs_of;
  for (const auto& [key, jobs] : alike) {
    kinds.jobs.push_back(state.problem.jobs[jobs.front()]);
    kinds.jobs.back().count = static_cast<int>(jobs.size());
    models.push_back(key.first);
    jobs_of.push_back(&jobs);
  }
  const timeshare::Packing packing = timeshare::packed_max_min_fairness(
      kinds, [&](std::size_t type, std::size_t one, std::size_t other) {
        return speeds_.beside(type, models[one], models[other]);
      });
  Allocation allocation = nothing(state);
  for (std::size_t kind = 0; kind < jobs_of.size(); ++kind) {
    for (const std::size_t job : *jobs_of[kind]) {
      for (std::size_t type = 0; type < kinds.types(); ++type) {
        allocation.alone[job][type] =
            packing.alone[kind][type] / static_cast<double>(jobs_of[kind]->size());
      }
    }
  }
  for (const timeshare::Packing::Pair& pair : packing.pairs) {
    const std::vector<std::size_t>& ones = *jobs_of[pair.one];
    const std::vector<std::size_t>& others = *jobs_of[pair.other];
    const bool same = pair.one == pair.other;
    const auto count = static_cast<double>(same ? ones.size() * (ones.size() - 1) / 2
                                                : ones.size() * others.size());
    std::vector<double> row = pair.times;
    for (double& time : row) time /= count;
    for (std::size_t at = 0; at < ones.size(); ++at) {
      for (std::size_t beside = same ? at + 1 : 0; beside < others.size(); ++beside) {
        allocation.pairs.push_back({ones[at], others[beside], row});
      }
    }
  }
  return allocation;
}

Allocation GandivaPacked::allocate(const State& state) {
  double asked = 0;
  for (const timeshare::Job& job : state.problem.jobs) asked += job.gpus;
  const std::vector<double>& gpus = state.problem.gpus;
  if (asked <= std::accumulate(gpus.begin(), gpus.end(), 0.0)) {
    return {.alone = timeshare::isolated(state.problem)};
  }
  std::map<int, std::size_t> place;
  for (std::size_t at = 0; at < state.numbers.size(); ++at) place.emplace(state.numbers[at], at);
  std::vector<bool> paired(state.numbers.size(), false);
  std::vector<Pair> kept;
  for (const Pair& pair : pairs_) {
    const auto one = place.find(pair.one);
    const auto other = place.find(pair.other);
    if (one == place.end() || other == place.end()) continue;
    double sum = 0;
    for (std::size_t type = 0; type < gpus.size(); ++type) {
      sum += together(speeds_, type, state.kinds[one->second], state.kinds[other->second]);
    }
    if (sum < kBadPair) continue;
    paired[one->second] = paired[other->second] = true;
    kept.push_back(pair);
  }
  std::vector<std::size_t> alone;
  for (std::size_t at = 0; at < paired.size(); ++at) {
    if (!paired[at]) alone.push_back(at);
  }
  const auto draw = [&] {
    const auto at = draws_.below(static_cast<std::uint32_t>(alone.size()));
    return std::exchange(alone[at], alone.back());
  };
  for (std::size_t tries = alone.size(); tries > 0 && alone.size() >= 2; --tries) {
    const std::size_t one = draw();
    alone.pop_back();
    const std::size_t other = draw();
    alone.pop_back();
    if (state.problem.jobs[one].gpus == state.problem.jobs[other].gpus) {
      kept.push_back({state.numbers[one], state.numbers[other]});
    } else {
      alone.insert(alone.end(), {one, other});
    }
  }
  pairs_ = std::move(kept);

  Allocation allocation = nothing(state);
  const auto combinations = static_cast<double>(alone.size() + pairs_.size());
  const auto row_of = [&](int scale) {
    std::vector<double> row;
    for (const double each : gpus) row.push_back(each / combinations / scale);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum > 1) std::for_each(row.begin(), row.end(), [sum](double& each) { each /= sum; });
    return row;
  };
  for (const std::size_t at : alone) {
    allocation.alone[at] = row_of(state.problem.jobs[at].gpus);
  }
  for (const Pair& pair : pairs_) {
    const std::size_t one = place.at(pair.one);
    allocation.pairs.push_back({one, place.at(pair.other), row_of(state.problem.jobs[one].gpus)});
  }
  return allocation;
}

}  // namespace almanac::gavel
