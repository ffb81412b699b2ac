// SPDX-License-Identifier: Apache-2.0
#include "rounds/engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "base/check.h"

namespace almanac::rounds {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Times that are one event.
bool same(double one, double other) {
  return one == other || std::abs(one - other) <= 1e-9 * std::max(std::abs(one), std::abs(other));
}

/// The earliest predicted end, and which jobs it is of.
struct Ends {
  double at = kNever;
  std::vector<Live*> jobs{};
};

Ends next_ends(double now, const std::vector<Live*>& live) {
  Ends ends;
  for (Live* job : live) {
    if (!job->runs) continue;
    const double at = now + job->left * job->iteration_s;
    if (!ends.jobs.empty() && same(at, ends.at)) {
      ends.jobs.push_back(job);
    } else if (at < ends.at) {
      ends = {at, {job}};
    }
  }
  return ends;
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

std::vector<Result> simulate(std::span<const Job> jobs, Scheduler& scheduler) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<Result> results(jobs.size(), {kNone, kNone, 0});
  std::deque<Live> all;
  std::vector<Live*> live;
  std::size_t next = 0;
  double now = 0;
  while (next < jobs.size() || !live.empty()) {
    const double arrival = next < jobs.size() ? jobs[next].submit : kNever;
    Ends ends = next_ends(now, live);
    const double own = scheduler.next(now, live);
    double at = std::min(arrival, ends.at);
    bool ending = same(ends.at, at);
    bool arriving = same(arrival, at);
    if (at > own) {
      at = own;
      ending = arriving = false;
    }
    if (at == kNever) break;
    const double passed = at - now;
    if (ending) {
      for (Live* job : ends.jobs) {
        results[job->index].end = at;
        results[job->index].ran_s = job->ran_s + passed;
        scheduler.end(*job);
        std::erase(live, job);
      }
    }
    for (Live* job : live) {
      if (!job->runs) continue;
      job->ran_s += passed;
      job->left -= std::max(passed - job->overhead_s, 0.0) / job->iteration_s;
    }
    now = at;
    for (; arriving && next < jobs.size() && same(jobs[next].submit, arrival); ++next) {
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
