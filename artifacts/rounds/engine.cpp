// SPDX-License-Identifier: Apache-2.0
#include "rounds/engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::rounds {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// As Python's math.isclose() does.
bool is_close(double one, double other, double relative, double absolute = 0) {
  if (one == other) return true;
  const double apart = std::abs(one - other);
  return apart <= absolute || apart <= relative * std::max(std::abs(one), std::abs(other));
}
constexpr double kAlike = 1e-9;

/// Jobs that end as one event.
struct Ends {
  double at = kNever;
  std::vector<Live*> jobs{};
};

/// The earliest predicted end.
Ends next_ends(double now, const std::vector<Live*>& live, const Merging& merging) {
  std::vector<Ends> all;
  for (Live* job : live) {
    if (!job->runs) continue;
    const double at = now + job->left * job->iteration_s;
    const auto known = std::find_if(all.begin(), all.end(), [&](const Ends& each) {
      return is_close(each.at, at, merging.ends);
    });
    if (known == all.end()) {
      all.push_back({at, {job}});
    } else {
      known->jobs.push_back(job);
    }
  }
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const Ends& one, const Ends& other) { return one.at < other.at; });
  Ends first = std::move(all.front());
  for (std::size_t each = 1; each < all.size() && merging.ends_s > 0; ++each) {
    if (!is_close(first.at, all[each].at, kAlike, merging.ends_s)) break;
    first.jobs.insert(first.jobs.end(), all[each].jobs.begin(), all[each].jobs.end());
  }
  return first;
}

}  // namespace

double restart_s(std::string_view model, int gpus) {
  struct Measured {
    std::string_view model;
    std::array<double, 6> seconds;  // on 1, 2, 4, 8, 16, 32 GPUs
  };
  constexpr std::array<Measured, 6> kMeasured{{{"vgg16", {7, 7, 8, 9, 9, 10}},
                                               {"vgg19", {7, 7, 8, 9, 10, 10}},
                                               {"resnet18", {4, 5, 5, 7, 7, 7}},
                                               {"shufflenet", {4, 4, 5, 5, 7, 8}},
                                               {"a2c", {38, 39, 39, 46, 46, 46}},
                                               {"dqn", {5, 5, 6, 6, 8, 8}}}};
  for (const Measured& measured : kMeasured) {
    if (!model.starts_with(measured.model)) continue;
    for (std::size_t power = 0; power < measured.seconds.size(); ++power) {
      if (gpus == 1 << power) return measured.seconds[power];
    }
  }
  return 10;
}

bool FreeGpus::take(int gpus) {
  std::vector<std::size_t> idle;
  const auto whole = static_cast<std::size_t>(gpus <= per_node_ ? 0 : gpus / per_node_);
  const int rest = gpus - static_cast<int>(whole) * per_node_;
  for (std::size_t node = 0; node < free_.size() && idle.size() < whole; ++node) {
    if (free_[node] == per_node_) idle.push_back(node);
  }
  if (idle.size() < whole) return false;
  if (rest > 0) {
    std::size_t node = 0;
    while (node < free_.size() &&
           (free_[node] < rest || std::count(idle.begin(), idle.end(), node) > 0)) {
      ++node;
    }
    if (node == free_.size()) return false;
    free_[node] -= rest;
  }
  for (const std::size_t node : idle) free_[node] = 0;
  return true;
}

almanac::Result<std::vector<Result>> simulate(std::span<const Job> jobs, Scheduler& scheduler) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Merging merging = scheduler.merging();
  // A job moves on by itself at most once for each queue of a scheduler.
  const std::size_t most_plans = 8 * (jobs.size() + 1);
  std::size_t plans = 0;  // since a job arrived or ended
  std::vector<Result> results(jobs.size(), {kNone, kNone, 0});
  std::deque<Live> all;
  std::vector<Live*> live;
  std::size_t next = 0;
  double now = 0;
  while (next < jobs.size() || !live.empty()) {
    const double arrival = next < jobs.size() ? jobs[next].submit : kNever;
    const Ends ends = next_ends(now, live, merging);
    const bool together =
        ends.at == arrival || (merging.arrival_s > 0 && ends.at != kNever && arrival != kNever &&
                               is_close(ends.at, arrival, kAlike, merging.arrival_s));
    double at = together ? arrival : std::min(arrival, ends.at);
    bool ending = together || ends.at < arrival;
    bool arriving = together || arrival < ends.at;
    const double own = scheduler.next(now, live);
    if (at > own) {
      at = own;
      ending = arriving = false;
    }
    if (at == kNever) break;
    plans = ending || arriving ? 0 : plans + 1;
    if (plans > most_plans) {
      return fail(
          Code::invalid,
          fmt::format("the simulation stands still at {:.3f} s: it planned {} times while no "
                      "job arrived or ended",
                      at, plans));
    }
    if (ending) {
      for (Live* job : ends.jobs) {
        results[job->index].end = at;
        results[job->index].ran_s = job->ran_s + (at - now);
        scheduler.end(*job);
        std::erase(live, job);
      }
    }
    for (Live* job : live) {
      if (!job->runs) continue;
      // From the left, as the program does: keys that are equal otherwise differ by the last bit.
      job->ran_s = job->ran_s + at - now;
      job->left -= std::max(at - now - job->overhead_s, 0.0) / job->iteration_s;
    }
    now = at;
    for (; arriving && next < jobs.size() && is_close(jobs[next].submit, arrival, kAlike); ++next) {
      const Job& job = jobs[next];
      Live& added = all.emplace_back(Live{.job = &job, .index = next, .left = job.iterations});
      live.push_back(&added);
      scheduler.arrive(added);
    }
    scheduler.plan(now, live);
    for (const Live* job : live) {
      if (job->runs && std::isnan(results[job->index].start)) results[job->index].start = now;
    }
  }
  return results;
}

}  // namespace almanac::rounds
