// SPDX-License-Identifier: Apache-2.0
#include "gavel/shockwave.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "rules/timeshare/market.h"

namespace almanac::gavel {
namespace {

/// Beyond this difference of samples from the profile's over the same time the profile is scaled.
constexpr double kCalibratedBeyond = 0.4;
/// Rounds after which there is a new plan, though no job have come or gone.
constexpr std::size_t kKeptRounds = 8;
/// Seconds that a job takes at least.
constexpr double kLeast = 1;

/// What is believed of how a job trains.
class Belief {
 public:
  explicit Belief(const EpochProfile& profile) : profile_(profile) {
    for (std::size_t epoch = 0; epoch < profile.batches.size(); ++epoch) {
      Regime& regime = regimes_[profile.batches[epoch]];
      regime.mean_s += profile.seconds[epoch];
      ++regime.epochs;
    }
    for (auto& [batch, regime] : regimes_) regime.mean_s /= regime.epochs;
  }

  /// The job has trained `steps` with `batch` now.
  void see(double steps, double run_s, int batch) {
    const double epoch_steps = std::ceil(static_cast<double>(profile_.samples) / batch);
    done_ = std::min(steps / epoch_steps, epochs());
    const auto present = static_cast<std::size_t>(std::min(std::floor(done_) + 1, epochs()));
    while (seen_.size() < present) seen_.push_back(batch);
    seen_.back() = batch;
    if (batch == batch_ && steps > steps_) {
      samples_ += (steps - steps_) * batch;
      sampled_s_ += run_s - run_s_;
    }
    batch_ = batch;
    steps_ = steps;
    run_s_ = run_s;
  }

  double epochs() const { return static_cast<double>(profile_.batches.size()); }
  double done() const { return done_ / epochs(); }

  /// The regimes' weights, all alike at first, grow with the epochs that were seen.
  double left_s() const {
    std::map<int, double> weights;
    for (const auto& [batch, regime] : regimes_) {
      weights[batch] = epochs() / static_cast<double>(regimes_.size());
    }
    for (const int batch : seen_) weights[batch] += 1;
    double sum = 0;
    for (const auto& [batch, weight] : weights) sum += weight;
    for (auto& [batch, weight] : weights) weight *= epochs() / sum;
    for (const int batch : seen_) weights[batch] -= weights[batch] >= 1 ? 1 : 0;
    double left = 0;
    double whole = 0;
    for (const auto& [batch, weight] : weights) {
      left += weight * mean_s(batch);
      whole += weight;
    }
    const double to_come = epochs() - done_;
    return std::max(left * to_come / std::max(std::floor(whole + 1), to_come) * scale(), kLeast);
  }

  /// Run time of the epochs before the one that it is in.
  double past_s() const {
    double past_s = 0;
    for (std::size_t epoch = 0; epoch + 1 < seen_.size(); ++epoch) past_s += mean_s(seen_[epoch]);
    return past_s * scale();
  }

 private:
  struct Regime {
    double mean_s = 0;  // an epoch
    int epochs = 0;
  };

  double mean_s(int batch) const {
    if (const auto known = regimes_.find(batch); known != regimes_.end()) {
      return known->second.mean_s;
    }
    return std::accumulate(profile_.seconds.begin(), profile_.seconds.end(), 0.0) / epochs();
  }

  double scale() const {
    if (samples_ <= 0) return 1;
    double left_s = sampled_s_;
    double profiled = 0;
    for (std::size_t epoch = 0; epoch < profile_.seconds.size() && left_s > 0; ++epoch) {
      const double part = std::min(1.0, left_s / profile_.seconds[epoch]);
      profiled += part * profile_.samples;
      left_s -= profile_.seconds[epoch];
    }
    return std::fabs(samples_ - profiled) > kCalibratedBeyond * profiled ? profiled / samples_ : 1;
  }

  const EpochProfile& profile_;
  std::map<int, Regime> regimes_;  // by batch
  std::vector<int> seen_;          // batches, up to the epoch that it is in
  double done_ = 0;                // epochs
  int batch_ = 0;
  double steps_ = 0, run_s_ = 0, samples_ = 0, sampled_s_ = 0;
};

class Shockwave final : public Rule {
 public:
  Shockwave(std::map<int, EpochProfile> profiles, std::map<std::size_t, int> batches,
            const timeshare::Window& window)
      : profiles_(std::move(profiles)), batches_(std::move(batches)), window_(window) {}

  Allocation allocate(const State& state) override {
    const std::size_t jobs = state.numbers.size();
    window_.gpus = state.problem.gpus.front();
    const double part = std::min(1.0, window_.gpus / static_cast<double>(jobs));
    const bool changed = state.numbers != numbers_;
    std::vector<timeshare::Claim> claims;
    for (std::size_t at = 0; at < jobs; ++at) {
      const int number = state.numbers[at];
      Belief& belief = beliefs_.try_emplace(number, profiles_.at(number)).first->second;
      belief.see(state.steps_done[at], state.run_s[at], batches_.at(state.kinds[at]));
      const timeshare::Job& job = state.problem.jobs[at];
      const double submitted_s = state.now_s - job.age_s;
      const double left_s = belief.left_s();
      timeshare::FairEnd& end = fair_ends_[number];
      if (changed) {
        end.estimate(submitted_s + (belief.past_s() + left_s) / part, state.now_s);
      }
      claims.push_back({.gpus = job.gpus,
                        .age_s = job.age_s,
                        .done = belief.done(),
                        .left_s = left_s,
                        .fair_jct_s = std::max(end.at(state.now_s) - submitted_s, kLeast)});
    }
    if (changed || round_ == kKeptRounds) {
      plan_ = timeshare::plan_rounds(window_, claims);
      numbers_ = state.numbers;
      round_ = 0;
    }
    std::vector<bool> runs(jobs, false);
    for (const std::size_t at : plan_[round_]) runs[at] = true;
    ++round_;
    std::vector<std::size_t> order(jobs);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
      if (runs[one] != runs[other]) return bool{runs[one]};
      return claims[one].left_s > claims[other].left_s;
    });
    Allocation allocation;
    allocation.alone.assign(jobs, std::vector<double>(1, 0.0));
    for (std::size_t at = 0; at < jobs; ++at) {
      allocation.alone[order[at]][0] = 1 - static_cast<double>(at) / static_cast<double>(jobs);
    }
    return allocation;
  }
  bool decides_rounds() const override { return true; }

 private:
  const std::map<int, EpochProfile> profiles_;
  const std::map<std::size_t, int> batches_;
  timeshare::Window window_;
  std::map<int, Belief> beliefs_;
  std::map<int, timeshare::FairEnd> fair_ends_;
  std::vector<int> numbers_;                    // of the jobs that the plan is for
  std::vector<std::vector<std::size_t>> plan_;  // by round: places in numbers_
  std::size_t round_ = 0;                       // of the plan
};

}  // namespace

std::unique_ptr<Rule> make_shockwave(std::map<int, EpochProfile> profiles,
                                     std::map<std::size_t, int> batches,
                                     const timeshare::Window& window) {
  return std::make_unique<Shockwave>(std::move(profiles), std::move(batches), window);
}

}  // namespace almanac::gavel
