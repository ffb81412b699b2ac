// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/deal_ahead.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace almanac::elastic {
namespace {

/// The first one is kept unless another one is clearly better.
constexpr std::array<double, 6> kExponents{0.3, 0, 0.15, 0.5, 0.75, 1};
constexpr double kClearly = 0.002;
constexpr double kShortest_s = 60;   // an end that is nearer makes no new deal
constexpr double kLeastKept = 0.01;  // part of the speed of a job that waits

/// Jobs at some time to come.
struct Ahead {
  std::vector<double> work_s;  ///< 0 = it has ended.
  std::vector<int> held;
  bool is_now = true;
};

class Dealer {
 public:
  Dealer(std::span<const AheadJob> jobs, int gpus, const AheadTerms& terms)
      : jobs_(jobs), gpus_(gpus), terms_(terms) {}

  std::vector<int> deal(const Ahead& ahead, double exponent) const {
    std::vector<int> given(jobs_.size(), 0);
    std::vector<Step> steps(jobs_.size());
    int left = gpus_;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      steps[job] = best_step(ahead, exponent, job, 0, left);
    }
    while (left > 0) {
      const auto best = std::max_element(
          steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.gain < b.gain; });
      if (best == steps.end() || best->gain <= 0) break;
      const auto winner = static_cast<std::size_t>(best - steps.begin());
      left -= best->to - given[winner];
      given[winner] = best->to;
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        if (job != winner && steps[job].to - given[job] <= left) continue;
        steps[job] = best_step(ahead, exponent, job, given[job], left);
      }
    }
    return given;
  }

  /// Returns the sum of the powers of times from submission to completion under this distribution.
  double play(Ahead ahead, double exponent) const {
    double now_s = 0;
    double sum = 0;
    std::size_t alive = jobs_.size();
    while (alive > 0) {
      const std::vector<int> given = deal(ahead, exponent);
      double next_s = std::numeric_limits<double>::infinity();
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        next_s = std::min(next_s, needs_s(ahead, given, job));
      }
      if (std::isinf(next_s)) return next_s;
      next_s = std::max(next_s, kShortest_s);
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        const double needed_s = needs_s(ahead, given, job);
        if (std::isinf(needed_s)) continue;
        if (needed_s <= next_s) {
          sum += std::pow(jobs_[job].age_s + now_s + needed_s, terms_.tail);
          ahead.work_s[job] = 0;
          --alive;
        } else {
          ahead.work_s[job] -=
              std::max(0.0, next_s - lost_s(ahead, given, job)) * speed(job, given[job]);
        }
      }
      now_s += next_s;
      ahead.held = given;
      ahead.is_now = false;
    }
    return sum;
  }

 private:
  struct Step {
    double gain = 0;  ///< Of weighed speed, a GPU.
    int to = 0;
  };

  double speed(std::size_t job, int gpus) const {
    return jobs_[job].speeds[static_cast<std::size_t>(gpus)];
  }
  double lost_s(const Ahead& ahead, const std::vector<int>& given, std::size_t job) const {
    return given[job] == ahead.held[job] ? 0 : terms_.restart_s;
  }
  /// Returns the time until the job ends; infinite for a job that has ended or has no GPU.
  double needs_s(const Ahead& ahead, const std::vector<int>& given, std::size_t job) const {
    if (ahead.work_s[job] <= 0 || given[job] == 0) return std::numeric_limits<double>::infinity();
    return lost_s(ahead, given, job) + ahead.work_s[job] / speed(job, given[job]);
  }

  double worth(const Ahead& ahead, double weight, std::size_t job, int gpus) const {
    if (gpus == 0) return 0;
    if (gpus == ahead.held[job]) {
      return weight * (ahead.is_now ? jobs_[job].present_speed : speed(job, gpus));
    }
    const double made = speed(job, gpus);
    if (made <= 0) return 0;
    const double stays_s =
        std::min(terms_.horizon_s, std::max(kShortest_s, ahead.work_s[job] / made));
    // A job that waits takes idle GPUs, however little of its speed a restart leaves.
    const double least = ahead.held[job] == 0 ? kLeastKept : 0;
    return weight * made * std::max(least, 1 - terms_.restart_s / stays_s);
  }

  Step best_step(const Ahead& ahead, double exponent, std::size_t job, int from, int left) const {
    Step best;
    if (ahead.work_s[job] <= 0) return best;
    const double weight = std::pow(ahead.work_s[job], -exponent);
    const double now = worth(ahead, weight, job, from);
    const int most = std::min(from + left, static_cast<int>(jobs_[job].speeds.size()) - 1);
    for (int to = from + 1; to <= most; ++to) {
      if (speed(job, to) <= 0) continue;
      const double gain = (worth(ahead, weight, job, to) - now) / (to - from);
      if (gain > best.gain) best = {.gain = gain, .to = to};
    }
    return best;
  }

  std::span<const AheadJob> jobs_;
  int gpus_;
  AheadTerms terms_;
};

}  // namespace

std::vector<int> deal_ahead(std::span<const AheadJob> jobs, int gpus, const AheadTerms& terms) {
  Ahead now;
  for (const AheadJob& job : jobs) {
    now.work_s.push_back(job.work_s);
    now.held.push_back(job.present);
  }
  const Dealer dealer(jobs, gpus, terms);
  double chosen = kExponents.front();
  if (jobs.size() > 1) {
    double least = dealer.play(now, chosen);
    for (const double exponent : std::span(kExponents).subspan(1)) {
      const double sum = dealer.play(now, exponent);
      if (!(sum < least * (1 - kClearly))) continue;
      least = sum;
      chosen = exponent;
    }
  }
  return dealer.deal(now, chosen);
}

}  // namespace almanac::elastic
