// SPDX-License-Identifier: Apache-2.0
#include "formulas/waiting.h"

#include <algorithm>
#include <numeric>

#include "stats/quantile.h"

namespace almanac::carbon {
namespace {

constexpr double kThreshold = 0.3;

Step lowest_slot(const Intensity& intensity, const Task& task) {
  Step best = task.arrival;
  // The intensity changes with the hour, and the first of equals wins.
  for (Step at = task.arrival; at <= task.arrival + task.waiting && at < intensity.end();
       at += kStepsAnHour - at % kStepsAnHour) {
    if (intensity.at(at) < intensity.at(best)) best = at;
  }
  return best;
}

/// The start, each hour from the arrival on, of the highest `score(start)`; the first of equals.
template <typename Score>
Step best_hour(const Intensity& intensity, const Task& task, Score&& score) {
  Step best = task.arrival;
  double highest = 0;
  bool any = false;
  for (Step at = task.arrival; at <= task.arrival + task.waiting; at += kStepsAnHour) {
    if (at + task.usual > intensity.end()) break;
    const double value = score(at);
    if (any && value <= highest) continue;
    any = true;
    highest = value;
    best = at;
  }
  return best;
}

void add_step(std::vector<Piece>& pieces, Step at) {
  if (!pieces.empty() && pieces.back().start + pieces.back().length == at) {
    ++pieces.back().length;
  } else {
    pieces.push_back({at, 1});
  }
}

std::vector<Piece> lowest_steps(const Intensity& intensity, const Task& task) {
  const Step until =
      std::min(task.arrival + task.length + task.waiting, std::max(task.arrival, intensity.end()));
  std::vector<Step> steps(static_cast<std::size_t>(until - task.arrival));
  std::iota(steps.begin(), steps.end(), task.arrival);
  std::stable_sort(steps.begin(), steps.end(),
                   [&](Step a, Step b) { return intensity.at(a) < intensity.at(b); });
  steps.resize(std::min(steps.size(), static_cast<std::size_t>(task.length)));
  std::sort(steps.begin(), steps.end());
  std::vector<Piece> pieces;
  for (const Step at : steps) add_step(pieces, at);
  return pieces;
}

std::vector<Piece> below_threshold(const Intensity& intensity, const Task& task) {
  std::vector<double> day;
  for (Step at = task.arrival; at < std::min(task.arrival + 24 * kStepsAnHour, intensity.end());
       ++at) {
    day.push_back(intensity.at(at));
  }
  const double threshold = stats::quantile(day, kThreshold);
  std::vector<Piece> pieces;
  Step left = task.length;
  Step waiting = task.waiting;
  for (Step at = task.arrival; left > 0; ++at) {
    const bool clean = at < intensity.end() && intensity.at(at) < threshold;
    if (clean || waiting == 0) {
      add_step(pieces, at);
      --left;
    } else {
      --waiting;
    }
  }
  return pieces;
}

}  // namespace

std::vector<Piece> plan(const Intensity& intensity, WaitFor what, const Task& task) {
  const auto sum = [&](Step from) { return intensity.sum(from, from + task.usual); };
  const auto whole = [&](Step start) { return std::vector<Piece>{{start, task.length}}; };
  switch (what) {
    case WaitFor::nothing:
      return whole(task.arrival);
    case WaitFor::the_end:
      return whole(task.arrival + task.waiting);
    case WaitFor::lowest_slot:
      return whole(lowest_slot(intensity, task));
    case WaitFor::lowest_window:
      return whole(best_hour(intensity, task, [&](Step at) { return -sum(at); }));
    case WaitFor::most_saved_a_time:
      return whole(best_hour(intensity, task, [&](Step at) {
        const Step until_end = at - task.arrival + task.usual;
        return (sum(task.arrival) - sum(at)) / static_cast<double>(std::max<Step>(1, until_end));
      }));
    case WaitFor::lowest_steps:
      return lowest_steps(intensity, task);
    case WaitFor::below_threshold:
      return below_threshold(intensity, task);
  }
  return {};
}

}  // namespace almanac::carbon
