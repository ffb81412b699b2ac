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

/// GPUs of a type, in order of when they are free. GPUs that are free at the same time count as one
/// part: they may be thousands. A step of the search makes a row, so a row keeps its memory.
class Row {
 public:
  Row() = default;
  /// The first `most` of `free_s`, which is sorted.
  Row(const std::vector<double>& free_s, std::size_t most) {
    for (std::size_t gpu = 0; gpu < std::min(free_s.size(), most); ++gpu) {
      if (parts_.empty() || parts_.back().at_s != free_s[gpu]) parts_.push_back({free_s[gpu], 0});
      ++parts_.back().gpus;
    }
    end_ = parts_.size();
  }
  /// Returns when `gpus` GPUs are free; infinite = the type has fewer.
  double free_s(int gpus) const {
    for (std::size_t at = 0; at < end_; ++at) {
      gpus -= parts_[at].gpus;
      if (gpus <= 0) return parts_[at].at_s;
    }
    return kForever;
  }
  /// Becomes `before` once a job has taken the first `gpus`, which are free again at `end_s`; of
  /// these GPUs the first `most`.
  void follow(const Row& before, int gpus, double end_s, int most) {
    if (parts_.size() <= before.end_) parts_.resize(before.end_ + 1);
    end_ = 0;
    std::size_t at = 0;
    int left = 0;  // of the part at `at`
    for (int to_take = gpus; to_take > 0 && at < before.end_; ++at) {
      left = before.parts_[at].gpus - to_take;
      if (left > 0) break;
      to_take = -left;
    }
    for (bool is_back = false; most > 0;) {
      const bool any_left = at < before.end_;
      if (!is_back && (!any_left || before.parts_[at].at_s > end_s)) {
        add(end_s, gpus, most);
        is_back = true;
      } else if (any_left) {
        add(before.parts_[at].at_s, left > 0 ? left : before.parts_[at].gpus, most);
        left = 0;
        ++at;
      } else {
        return;
      }
    }
  }

 private:
  struct Part {
    double at_s = 0;
    int gpus = 0;
  };

  void add(double at_s, int gpus, int& most) {
    const int count = std::min(gpus, most);
    parts_[end_++] = {at_s, count};
    most -= count;
  }

  std::vector<Part> parts_;
  std::size_t end_ = 0;  // of the parts; those behind are memory of earlier steps
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

  /// Puts a job into the line of a GPU type; `after` becomes what is free after it.
  void place(std::size_t job, std::size_t type, double start_s, Row& after) {
    now_.places[job] = {type, start_s};
    asked_ -= jobs_[job].gpus;
    after.follow(*free_[type], jobs_[job].gpus, start_s + jobs_[job].takes_s[type], asked_);
    free_[type] = &after;
  }

  /// Puts each job, in the order of `key`, into the line in which it ends first.
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
      place(job, type, start(job, type), depths_[depth++].after);
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
    // Sums in another order may differ in their last digits.
    const double most = best_.cost_s * (1 - 1e-12);
    double bound = now_.cost_s;
    auto& [next, after] = depths_[depth];
    next.clear();
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (is_placed_[job]) continue;
      double best_s = kForever;
      for (std::size_t type = first_type; type < free_.size(); ++type) {
        const double start_s = start(job, type);
        const double end_s = start_s + jobs_[job].takes_s[type];
        best_s = std::min(best_s, end_s);
        if (end_s < kForever) next.push_back({cost(job, end_s), job, type, start_s});
      }
      bound += cost(job, best_s);
      if (bound >= most) return;
    }
    if (next.empty()) {
      if (bound < most) best_ = now_;
      return;
    }
    std::sort(next.begin(), next.end());
    for (const Choice& choice : next) {
      const Row* const before = free_[choice.type];
      const Lines::Place old = now_.places[choice.job];
      const double spent_s = now_.cost_s;
      now_.cost_s += choice.cost_s;
      place(choice.job, choice.type, choice.start_s, after);
      is_placed_[choice.job] = true;
      branch(choice.type, depth + 1);
      is_placed_[choice.job] = false;
      now_.places[choice.job] = old;
      now_.cost_s = spent_s;
      free_[choice.type] = before;
      asked_ += jobs_[choice.job].gpus;
    }
  }

  /// A job at GPUs of a type, next in line there.
  struct Choice {
    double cost_s = 0;
    std::size_t job = 0;
    std::size_t type = 0;
    double start_s = 0;

    bool operator<(const Choice& other) const {
      return std::tie(cost_s, job, type) < std::tie(other.cost_s, other.job, other.type);
    }
  };

  /// What a step of the search needs, kept for the next one as deep.
  struct Depth {
    std::vector<Choice> next;
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
