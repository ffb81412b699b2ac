// SPDX-License-Identifier: Apache-2.0
#include "gavel/fifo.h"

#include <algorithm>
#include <deque>

namespace almanac::gavel {

Allocation Fifo::allocate(const State& state) {
  const timeshare::Problem& problem = state.problem;
  std::map<int, std::size_t> place;
  std::deque<std::size_t> queue;
  for (std::size_t at = 0; at < state.numbers.size(); ++at) {
    place.emplace(state.numbers[at], at);
    if (kept_.count(state.numbers[at]) == 0) queue.push_back(at);
  }
  std::vector<int> left(problem.gpus.begin(), problem.gpus.end());
  std::map<int, std::size_t> kept;
  for (const auto& [number, type] : kept_) {
    if (const auto live = place.find(number); live != place.end()) {
      left[type] -= problem.jobs[live->second].gpus;
      kept.emplace(number, type);
      continue;
    }
    if (queue.empty()) continue;
    const timeshare::Job& head = problem.jobs[queue.front()];
    if (head.gpus > left[type] || head.rates[type] <= 0) continue;
    left[type] -= head.gpus;
    kept.emplace(state.numbers[queue.front()], type);
    queue.pop_front();
  }
  std::vector<std::size_t> open;
  for (std::size_t type = 0; type < left.size(); ++type) {
    if (left[type] > 0) open.push_back(type);
  }
  while (!queue.empty() && !open.empty()) {
    const std::size_t at = queue.front();
    const timeshare::Job& head = problem.jobs[at];
    std::vector<std::size_t> fitting;
    for (const std::size_t type : open) {
      if (left[type] >= head.gpus) fitting.push_back(type);
    }
    if (fitting.empty()) break;
    const std::size_t drawn = fitting[draws_.below(static_cast<std::uint32_t>(fitting.size()))];
    const std::size_t type = open.back();
    queue.pop_front();
    if (head.rates[type] <= 0) continue;
    kept.emplace(state.numbers[at], type);
    left[type] -= head.gpus;
    if (left[type] == 0) open.erase(std::find(open.begin(), open.end(), drawn));
  }
  kept_ = std::move(kept);

  Allocation allocation;
  allocation.alone.assign(problem.jobs.size(), std::vector<double>(problem.types(), 0.0));
  for (const auto& [number, type] : kept_) allocation.alone[place.at(number)][type] = 1;
  return allocation;
}

}  // namespace almanac::gavel
