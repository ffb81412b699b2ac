// SPDX-License-Identifier: Apache-2.0
#include "timeshare/lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace almanac::timeshare {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

using Free = std::vector<std::vector<double>>;

class Search {
 public:
  Search(const std::vector<Lined>& jobs, const Free& free_s, double late_worth, int most_steps)
      : jobs_(jobs), free_(free_s), late_worth_(late_worth), steps_left_(most_steps) {
    int asked = 0;
    for (const Lined& job : jobs) asked += job.gpus;
    for (auto& type : free_) {
      std::sort(type.begin(), type.end());
      // No job is ever lined up at those behind.
      type.resize(std::min(type.size(), static_cast<std::size_t>(asked)));
    }
    is_placed_.resize(jobs.size());
    now_.places.resize(jobs.size());
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (best_end(job, 0) == kForever) is_placed_[job] = true;
    }
  }

  Lines run() {
    best_.cost_s = kForever;
    take_greedy([&](std::size_t job) { return std::pair(jobs_[job].due_s, shortest(job)); });
    take_greedy([&](std::size_t job) { return std::pair(shortest(job), jobs_[job].due_s); });
    branch(0);
    best_.is_best = steps_left_ > 0;
    return best_;
  }

 private:
  double start(std::size_t job, std::size_t type) const {
    const auto gpus = static_cast<std::size_t>(jobs_[job].gpus);
    const bool runs = jobs_[job].takes_s[type] < kForever && gpus <= free_[type].size();
    return runs ? free_[type][gpus - 1] : kForever;
  }
  double end(std::size_t job, std::size_t type) const {
    return start(job, type) + jobs_[job].takes_s[type];
  }
  /// On types from `first` on.
  double best_end(std::size_t job, std::size_t first) const {
    double best = kForever;
    for (std::size_t type = first; type < free_.size(); ++type) {
      best = std::min(best, end(job, type));
    }
    return best;
  }
  double shortest(std::size_t job) const {
    const auto& takes = jobs_[job].takes_s;
    return *std::min_element(takes.begin(), takes.end());
  }
  double cost(std::size_t job, double end_s) const {
    const double late_s = std::max(0.0, end_s - jobs_[job].due_s);
    return jobs_[job].age_s + end_s + late_worth_ * late_s;
  }

  /// Each job in its turn where it ends first.
  template <typename Key>
  void take_greedy(Key key) {
    std::vector<std::size_t> order(jobs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const Free before = free_;
    now_.cost_s = 0;
    for (const std::size_t job : order) {
      if (is_placed_[job]) continue;
      std::size_t type = 0;
      for (std::size_t other = 1; other < free_.size(); ++other) {
        if (end(job, other) < end(job, type)) type = other;
      }
      now_.cost_s += cost(job, end(job, type));
      now_.places[job] = {type, stand(free_[type], jobs_[job], type)};
    }
    free_ = before;
    if (now_.cost_s < best_.cost_s) best_ = now_;
    now_.cost_s = 0;
  }

  /// Lines of different types know nothing of each other: all jobs of one come before those of the
  /// next, so that no two branches are the same way.
  void branch(std::size_t first_type) {
    if (steps_left_ == 0) return;
    --steps_left_;
    double bound = now_.cost_s;
    std::vector<std::tuple<double, std::size_t, std::size_t>> next;  // cost, job, type
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (is_placed_[job]) continue;
      bound += cost(job, best_end(job, first_type));
      for (std::size_t type = first_type; type < free_.size(); ++type) {
        if (end(job, type) < kForever) next.emplace_back(cost(job, end(job, type)), job, type);
      }
    }
    // Sums in another order may differ in their last digits.
    if (bound >= best_.cost_s * (1 - 1e-12)) return;
    if (next.empty()) {
      best_ = now_;
      return;
    }
    std::sort(next.begin(), next.end());
    for (const auto& [cost_s, job, type] : next) {
      const std::vector<double> before = free_[type];
      const Lines::Place old = now_.places[job];
      const double spent_s = now_.cost_s;
      now_.cost_s += cost_s;
      now_.places[job] = {type, stand(free_[type], jobs_[job], type)};
      is_placed_[job] = true;
      branch(type);
      is_placed_[job] = false;
      now_.places[job] = old;
      now_.cost_s = spent_s;
      free_[type] = before;
    }
  }

  const std::vector<Lined>& jobs_;
  Free free_;
  double late_worth_;
  int steps_left_;
  std::vector<bool> is_placed_;  // or runs nowhere
  Lines now_;
  Lines best_;
};

}  // namespace

double stand(std::vector<double>& free_s, const Lined& job, std::size_t type) {
  const auto gpus = static_cast<std::ptrdiff_t>(job.gpus);
  const double start_s = free_s[static_cast<std::size_t>(gpus - 1)];
  const double end_s = start_s + job.takes_s[type];
  free_s.erase(free_s.begin(), free_s.begin() + gpus);
  free_s.insert(std::upper_bound(free_s.begin(), free_s.end(), end_s),
                static_cast<std::size_t>(gpus), end_s);
  return start_s;
}

Lines least_late(const std::vector<Lined>& jobs, const Free& free_s, double late_worth,
                 int most_steps) {
  return Search(jobs, free_s, late_worth, most_steps).run();
}

}  // namespace almanac::timeshare
