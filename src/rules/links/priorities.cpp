// SPDX-License-Identifier: Apache-2.0
#include "rules/links/priorities.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/rng.h"

namespace almanac::links {
namespace {

constexpr int kOrders = 10;

/// Returns positions in an order in which no job comes after one that it shares a link with and
/// goes before.
std::vector<std::size_t> draw_order(const Contention& weights, Rng& rng) {
  const std::size_t jobs = weights.size();
  std::vector<std::size_t> before(jobs, 0);
  for (std::size_t a = 0; a < jobs; ++a) {
    for (std::size_t b = a + 1; b < jobs; ++b) before[b] += weights[a][b] > 0 ? 1 : 0;
  }
  std::vector<std::size_t> ready;
  for (std::size_t job = 0; job < jobs; ++job) {
    if (before[job] == 0) ready.push_back(job);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    std::swap(ready[rng.below(ready.size())], ready.back());
    const std::size_t job = ready.back();
    ready.pop_back();
    order.push_back(job);
    for (std::size_t next = job + 1; next < jobs; ++next) {
      if (weights[job][next] > 0 && --before[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

/// Returns the levels of least loss that consist of neighbors in `order`.
std::vector<int> cut(const Contention& weights, std::span<const std::size_t> order, int levels) {
  const std::size_t jobs = order.size();
  // sums[a][b]: weights between the first a jobs of the order and job b.
  std::vector<std::vector<double>> sums(jobs + 1, std::vector<double>(jobs, 0));
  for (std::size_t a = 0; a < jobs; ++a) {
    for (std::size_t b = 0; b < jobs; ++b) {
      const auto [first, second] = std::minmax(order[a], order[b]);
      sums[a + 1][b] = sums[a][b] + (a < b ? weights[first][second] : 0);
    }
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> least(jobs + 1, kNever);  // of the first so many jobs, in the levels so far
  least[0] = 0;
  std::vector<std::vector<std::size_t>> from;
  for (int level = 0; level < levels; ++level) {
    std::vector<double> next(jobs + 1, kNever);
    std::vector<std::size_t>& starts = from.emplace_back(jobs + 1, 0);
    for (std::size_t start = 0; start <= jobs; ++start) {
      double lost = least[start];
      for (std::size_t end = start; end <= jobs && lost < kNever; ++end) {
        if (lost < next[end]) {
          next[end] = lost;
          starts[end] = start;
        }
        if (end < jobs) lost += sums[end][end] - sums[start][end];
      }
    }
    least = std::move(next);
  }
  std::vector<int> made(jobs, 0);
  std::size_t end = jobs;
  for (int level = levels - 1; level >= 0; --level) {
    const std::size_t start = from[static_cast<std::size_t>(level)][end];
    for (std::size_t at = start; at < end; ++at) made[order[at]] = level;
    end = start;
  }
  return made;
}

}  // namespace

double gpu_intensity(const Flow& flow, int gpus) {
  return gpus * (flow.period_ms - flow.sends_ms) / flow.sends_ms;
}

double correction(const Flow& flow, const Flow& reference, double capacity_gbps) {
  std::array pair{flow, reference};
  const auto sent = [&](int own, int others) {  // parts of time in which each sends
    pair[0].priority = own;
    pair[1].priority = others;
    const auto longer = stretches(pair, capacity_gbps);
    return std::array{flow.sends_ms / flow.period_ms / longer[0],
                      reference.sends_ms / reference.period_ms / longer[1]};
  };
  const auto first = sent(1, 0);
  const auto second = sent(0, 1);
  constexpr double kLeast = 1e-9;
  const double gains = std::max(0.0, first[0] - second[0]);
  const double its_gains = std::max(0.0, second[1] - first[1]);
  if (gains < kLeast && its_gains < kLeast) return 1;
  constexpr double kMost = 100;
  return std::clamp(gains / std::max(kLeast, its_gains), 1 / kMost, kMost);
}

std::vector<int> levels_of(const Contention& weights, int levels) {
  const std::size_t jobs = weights.size();
  std::vector<std::size_t> order(jobs);
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> best = cut(weights, order, levels);
  double least = lost_within(weights, best);
  Rng rng(jobs);
  for (int at = 1; at < kOrders && least > 0; ++at) {
    std::vector<int> made = cut(weights, draw_order(weights, rng), levels);
    const double lost = lost_within(weights, made);
    if (lost >= least) continue;
    least = lost;
    best = std::move(made);
  }
  return best;
}

double lost_within(const Contention& weights, std::span<const int> levels) {
  double lost = 0;
  for (std::size_t a = 0; a < levels.size(); ++a) {
    for (std::size_t b = a + 1; b < levels.size(); ++b) {
      if (levels[a] == levels[b]) lost += weights[a][b];
    }
  }
  return lost;
}

}  // namespace almanac::links
