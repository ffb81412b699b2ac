// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace almanac::timeshare {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

using Free = std::vector<std::vector<double>>;

/// GPUs of a type, in order of when they are free. Those that are free at once count as one: they
/// may be thousands.
class Row {
 public:
  Row() = default;
  /// The first `most` of `free_s`, which is sorted.
  Row(const std::vector<double>& free_s, std::size_t most) {
    for (std::size_t gpu = 0; gpu < std::min(free_s.size(), most); ++gpu) {
      if (parts_.empty() || parts_.back().at_s != free_s[gpu]) parts_.push_back({free_s[gpu], 0});
      ++parts_.back().gpus;
    }
  }
  /// When so many are free; infinite = there are not as many.
  double free_s(int gpus) const {
    for (const Part& part : parts_) {
      gpus -= part.gpus;
      if (gpus <= 0) return part.at_s;
    }
    return kForever;
  }
  /// Becomes `before` once a job has taken the first `gpus`, which are free again at `end_s`; of
  /// these GPUs the first `most`.
  void follow(const Row& before, int gpus, double end_s, int most) {
    parts_.clear();
    const auto add = [&](double at_s, int count) {
      count = std::min(count, most);
      if (count > 0) parts_.push_back({at_s, count});
      most -= count;
    };
    int to_take = gpus;
    bool is_back = false;
    for (const Part& part : before.parts_) {
      if (most <= 0) return;
      if (!is_back && part.at_s > end_s) {
        add(end_s, gpus);
        is_back = true;
      }
      const int taken = std::min(part.gpus, to_take);
      to_take -= taken;
      add(part.at_s, part.gpus - taken);
    }
    if (!is_back) add(end_s, gpus);
  }

 private:
  struct Part {
    double at_s = 0;
    int gpus = 0;
  };
  std::vector<Part> parts_;
};

class Search {
 public:
  Search(const std::vector<Lined>& jobs, const Free& free_s, double late_worth, int most_steps)
      : jobs_(jobs), late_worth_(late_worth), steps_left_(most_steps), depths_(jobs.size() + 1) {
    for (const Lined& job : jobs) asked_ += job.gpus;
    for (std::vector<double> type : free_s) {
      if (!std::is_sorted(type.begin(), type.end())) std::sort(type.begin(), type.end());
      // No job is ever lined up at those behind.
      all_free_.emplace_back(type, static_cast<std::size_t>(asked_));
    }
    for (const Row& type : all_free_) free_.push_back(&type);
    is_placed_.resize(jobs.size());
    now_.places.resize(jobs.size());
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (!runs_anywhere(job)) is_placed_[job] = true;
    }
  }

  Lines run() {
    best_.cost_s = kForever;
    take_greedy([&](std::size_t job) { return std::pair(jobs_[job].due_s, shortest(job)); });
    take_greedy([&](std::size_t job) { return std::pair(shortest(job), jobs_[job].due_s); });
    branch(0, 0);
    best_.is_best = steps_left_ > 0;
    return best_;
  }

 private:
  double start(std::size_t job, std::size_t type) const {
    return jobs_[job].takes_s[type] < kForever ? free_[type]->free_s(jobs_[job].gpus) : kForever;
  }
  double end(std::size_t job, std::size_t type) const {
    return start(job, type) + jobs_[job].takes_s[type];
  }
  bool runs_anywhere(std::size_t job) const {
    for (std::size_t type = 0; type < free_.size(); ++type) {
      if (end(job, type) < kForever) return true;
    }
    return false;
  }
  double shortest(std::size_t job) const {
    const auto& takes = jobs_[job].takes_s;
    return *std::min_element(takes.begin(), takes.end());
  }
  double cost(std::size_t job, double end_s) const {
    const double late_s = std::max(0.0, end_s - jobs_[job].due_s);
    return jobs_[job].age_s + end_s + late_worth_ * late_s;
  }

  /// Lets a job stand in line for GPUs of a type, of which `after` is then what is free.
  void place(std::size_t job, std::size_t type, Row& after) {
    now_.places[job] = {type, start(job, type)};
    asked_ -= jobs_[job].gpus;
    after.follow(*free_[type], jobs_[job].gpus, end(job, type), asked_);
    free_[type] = &after;
  }

  /// Each job in its turn where it ends first.
  template <typename Key>
  void take_greedy(Key key) {
    std::vector<std::size_t> order(jobs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const std::vector<const Row*> before = free_;
    const int asked = asked_;
    now_.cost_s = 0;
    std::size_t depth = 0;
    for (const std::size_t job : order) {
      if (is_placed_[job]) continue;
      std::size_t type = 0;
      for (std::size_t other = 1; other < free_.size(); ++other) {
        if (end(job, other) < end(job, type)) type = other;
      }
      now_.cost_s += cost(job, end(job, type));
      place(job, type, depths_[depth++].after);
    }
    asked_ = asked;
    free_ = before;
    if (now_.cost_s < best_.cost_s) best_ = now_;
    now_.cost_s = 0;
  }

  /// Lines of different types know nothing of each other: all jobs of one come before those of the
  /// next, so that no two branches are the same way.
  void branch(std::size_t first_type, std::size_t depth) {
    if (steps_left_ == 0) return;
    --steps_left_;
    double bound = now_.cost_s;
    auto& [next, after] = depths_[depth];
    next.clear();
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (is_placed_[job]) continue;
      double best_s = kForever;
      for (std::size_t type = first_type; type < free_.size(); ++type) {
        const double end_s = end(job, type);
        best_s = std::min(best_s, end_s);
        if (end_s < kForever) next.emplace_back(cost(job, end_s), job, type);
      }
      bound += cost(job, best_s);
    }
    // Sums in another order may differ in their last digits.
    if (bound >= best_.cost_s * (1 - 1e-12)) return;
    if (next.empty()) {
      best_ = now_;
      return;
    }
    std::sort(next.begin(), next.end());
    for (const auto& [cost_s, job, type] : next) {
      const Row* const before = free_[type];
      const Lines::Place old = now_.places[job];
      const double spent_s = now_.cost_s;
      now_.cost_s += cost_s;
      place(job, type, after);
      is_placed_[job] = true;
      branch(type, depth + 1);
      is_placed_[job] = false;
      now_.places[job] = old;
      now_.cost_s = spent_s;
      free_[type] = before;
      asked_ += jobs_[job].gpus;
    }
  }

  /// What a step of the search needs, kept for the next one as deep.
  struct Depth {
    std::vector<std::tuple<double, std::size_t, std::size_t>> next;  // cost, job, type
    Row after;
  };

  const std::vector<Lined>& jobs_;
  int asked_ = 0;  // GPUs, by the jobs that are not in line
  std::vector<Row> all_free_;
  std::vector<const Row*> free_;  // of each type, behind the jobs in line
  double late_worth_;
  int steps_left_;
  std::vector<char> is_placed_;  // or runs nowhere
  std::vector<Depth> depths_;
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
