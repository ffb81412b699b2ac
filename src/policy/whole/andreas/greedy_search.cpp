// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/andreas/greedy_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace almanac::policy {
namespace {

constexpr double kSwapped = 0.25;      // neighbors in the order
constexpr double kPostponed = 0.1;     // jobs that could start
constexpr double kCheaper = 1 - 1e-9;  // by rounding alone, none is

double late_s(const GreedySearch::Ask& ask, const GreedySearch::Way& way) {
  return std::max(0.0, way.time_s - ask.due_s);
}

const Stock* room(const std::vector<Stock>& left, const GreedySearch::Way& way) {
  const auto found = std::find_if(left.begin(), left.end(), [&](const Stock& each) {
    return (each.gpu_type & way.type) != 0 && each.milli >= way.milli;
  });
  return found == left.end() ? nullptr : &*found;
}

}  // namespace

double GreedySearch::Ask::pressure_s() const {
  if (due_s == kForever) return -kForever;
  double fastest_s = kForever;
  for (const Way& way : ways) fastest_s = std::min(fastest_s, way.time_s);
  return fastest_s - due_s;
}

double GreedySearch::cost_of(const Ask& ask, const Way& way, double wait_s) const {
  return way.cost + late_cost_ * std::max(0.0, wait_s + way.time_s - ask.due_s);
}

std::vector<const GreedySearch::Way*> GreedySearch::choose(std::vector<Ask>& jobs,
                                                           const std::vector<Stock>& left,
                                                           double first_end_s, Rng& rng) const {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Ask& one, const Ask& other) {
    return one.pressure_s() > other.pressure_s();
  });
  for (Ask& ask : jobs) {
    std::stable_sort(ask.ways.begin(), ask.ways.end(), [&](const Way& one, const Way& other) {
      const double late = late_s(ask, one), other_late = late_s(ask, other);
      return late > 0 || other_late > 0 ? late < other_late : one.cost < other.cost;
    });
  }
  Outcome best = outcome(jobs, left, first_end_s, nullptr);
  for (int draw = 0; draw < draws_ && !jobs.empty(); ++draw) {
    Outcome tried = outcome(jobs, left, first_end_s, &rng);
    if (tried.cost < best.cost * kCheaper) best = std::move(tried);
  }
  return std::move(best.ways);
}

GreedySearch::Outcome GreedySearch::outcome(const std::vector<Ask>& jobs, std::vector<Stock> left,
                                            double first_end_s, Rng* rng) const {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t at = 1; rng != nullptr && at < order.size(); ++at) {
    if (rng->uniform() < kSwapped) std::swap(order[at - 1], order[at]);
  }
  Outcome made{.ways = std::vector<const Way*>(jobs.size()), .cost = 0};
  for (const std::size_t at : order) {
    const Way* const way = chosen(jobs[at], left, rng);
    if (way == nullptr) continue;
    left[static_cast<std::size_t>(room(left, *way) - left.data())].milli -= way->milli;
    made.ways[at] = way;
    made.cost += cost_of(jobs[at], *way, 0);
    first_end_s = std::min(first_end_s, way->time_s);
  }
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    // A job that no GPU type suits now costs the same in every outcome.
    if (made.ways[at] != nullptr || jobs[at].ways.empty()) continue;
    double least = kForever;
    for (const Way& way : jobs[at].ways) {
      least = std::min(least, cost_of(jobs[at], way, first_end_s));
    }
    made.cost += first_end_s == kForever ? kForever : least;
  }
  return made;
}

const GreedySearch::Way* GreedySearch::chosen(const Ask& ask, const std::vector<Stock>& left,
                                              Rng* rng) const {
  if (rng != nullptr && !ask.runs && rng->uniform() < kPostponed) return nullptr;
  std::vector<const Way*> open;
  double sum = 0;
  for (const Way& way : ask.ways) {
    if (room(left, way) == nullptr || (late_s(ask, way) > 0 && !open.empty())) continue;
    open.push_back(&way);
    sum += 1 / way.cost;
  }
  if (open.empty() || rng == nullptr) return open.empty() ? nullptr : open.front();
  double drawn = rng->uniform() * sum;
  for (const Way* const way : open) {
    drawn -= 1 / way->cost;
    if (drawn < 0) return way;
  }
  return open.back();
}

}  // namespace almanac::policy
