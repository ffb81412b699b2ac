// SPDX-License-Identifier: Apache-2.0
#include "gavel/rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "gavel/fifo.h"
#include "gavel/packed.h"
#include "gavel/unsolved.h"
#include "rules/fairness/shares.h"
#include "rules/timeshare/assignment.h"
#include "rules/timeshare/programs.h"
#include "rules/timeshare/shortest_first.h"

namespace almanac::gavel {
namespace {

using timeshare::Fractions;
using timeshare::Problem;

/// A program that needs no memory.
class Plain final : public Rule {
 public:
  using Solve = Fractions (*)(const Problem&);
  Plain(Solve solve, bool sees_types, bool leaves_idle = false)
      : solve_(solve), sees_types_(sees_types), leaves_idle_(leaves_idle) {}
  Allocation allocate(const State& state) override { return {.alone = solve_(state.problem)}; }
  bool shuffles_types() const override { return !sees_types_; }
  bool leaves_idle() const override { return leaves_idle_; }

 private:
  Solve solve_;
  bool sees_types_;
  bool leaves_idle_;
};

/// All types are as fast.
Fractions blind_max_min_fairness(const Problem& problem) {
  Problem blind = problem;
  for (timeshare::Job& job : blind.jobs) job.rates.assign(blind.types(), 1.0);
  return timeshare::max_min_fairness(blind);
}

/// All types are as fast as the last one, which in Gavel's clusters is the v100.
Problem as_last_type(const Problem& problem) {
  Problem blind = problem;
  for (timeshare::Job& job : blind.jobs) job.rates.assign(blind.types(), job.rates.back());
  return blind;
}

Fractions blind_min_total_duration(const Problem& problem) {
  return timeshare::min_total_duration(as_last_type(problem));
}

/// Adds up, from one allocation to the next, how long what was done would have taken alone.
class FinishTime final : public Rule {
 public:
  explicit FinishTime(bool sees_types) : sees_types_(sees_types) {}

  Allocation allocate(const State& state) override {
    Problem problem = sees_types_ ? state.problem : as_last_type(state.problem);
    const Fractions alone = timeshare::isolated(problem);
    std::map<int, Past> past;
    for (std::size_t at = 0; at < problem.jobs.size(); ++at) {
      timeshare::Job& job = problem.jobs[at];
      Past now{
          .alone_s = 0, .left = job.steps_left, .rate = timeshare::effective_rate(job, alone[at])};
      if (const auto before = past_.find(state.numbers[at]); before != past_.end()) {
        now.alone_s = before->second.alone_s;
        if (before->second.rate > 0) {
          now.alone_s += (before->second.left - now.left) / before->second.rate;
        }
      }
      job.alone_s = now.alone_s;
      past.emplace(state.numbers[at], now);
    }
    past_ = std::move(past);
    return {.alone = timeshare::finish_time_fairness(problem)};
  }
  bool shuffles_types() const override { return !sees_types_; }

 private:
  struct Past {
    double alone_s = 0;
    double left = 0;
    double rate = 0;
  };
  bool sees_types_;
  std::map<int, Past> past_;
};

class AlloX final : public Rule {
 public:
  explicit AlloX(double considered) : considered_(considered) {}

  Allocation allocate(const State& state) override {
    Fractions before;
    for (const int number : state.numbers) {
      const auto known = before_.find(number);
      before.push_back(known == before_.end() ? std::vector<double>(state.problem.types(), 0.0)
                                              : known->second);
    }
    Allocation allocation{.alone = timeshare::allox(state.problem, before, considered_)};
    before_.clear();
    for (std::size_t at = 0; at < state.numbers.size(); ++at) {
      before_.emplace(state.numbers[at], allocation.alone[at]);
    }
    return allocation;
  }

 private:
  double considered_;
  std::map<int, std::vector<double>> before_;
};

/// Ours: the shortest first, those sooner that are late beside a part of the cluster of their own.
class FairSrtf final : public Rule {
 public:
  explicit FairSrtf(double power) : power_(power) {}

  Allocation allocate(const State& state) override {
    Problem problem = state.problem;
    const double gpus = std::accumulate(problem.gpus.begin(), problem.gpus.end(), 0.0);
    for (std::size_t at = 0; at < problem.jobs.size(); ++at) {
      timeshare::Job& job = problem.jobs[at];
      const double rate = *std::max_element(job.rates.begin(), job.rates.end());
      if (rate <= 0) continue;
      const double told_s = state.profiled_s[at] - state.run_s[at];
      if (told_s > 0) job.steps_left = std::min(job.steps_left, told_s * rate);
      const double left_s = job.steps_left / rate;
      const double alone_s =
          state.profiled_s[at] > 0 ? state.profiled_s[at] : state.steps_done[at] / rate + left_s;
      const double ratio = fairness::finish_time_ratio(
          job.age_s + left_s, alone_s, static_cast<double>(problem.jobs.size()), gpus);
      job.weight = fairness::lateness_weight(ratio, power_);
    }
    Allocation allocation;
    allocation.alone.assign(problem.jobs.size(), std::vector<double>(problem.types(), 0.0));
    const std::vector<timeshare::Turn> line = timeshare::shortest_first(problem);
    for (std::size_t at = 0; at < line.size(); ++at) {
      allocation.alone[line[at].job][line[at].type] =
          1 - static_cast<double>(at) / static_cast<double>(line.size());
    }
    return allocation;
  }
  bool decides_rounds() const override { return true; }

 private:
  double power_;
};

template <typename Made, typename... Told>
std::unique_ptr<Rule> make(Told... told) {
  return std::make_unique<Made>(told...);
}

/// One that puts jobs side by side.
template <typename Made, typename... Told>
std::unique_ptr<Rule> make_packed(const Options& options, Told... told) {
  if (options.speeds == nullptr || !options.speeds->beside) return nullptr;
  return std::make_unique<Made>(*options.speeds, told...);
}

using Maker = std::function<std::unique_ptr<Rule>(const Options&)>;

const std::map<std::string_view, Maker>& makers() {
  static const std::map<std::string_view, Maker> all = {
      {"allox", [](const Options& told) { return make<AlloX>(told.considered); }},
      {"fair_srtf", [](const Options& told) { return make<FairSrtf>(told.lateness_power); }},
      {"fifo", [](const Options& told) { return make<Fifo>(told.seed); }},
      {"fifo_packed", [](const Options& told) { return make_packed<FifoPacked>(told); }},
      {"fifo_perf", [](const Options&) { return make<Plain>(&first_come, true, true); }},
      {"finish_time_fairness", [](const Options&) { return make<FinishTime>(false); }},
      {"finish_time_fairness_perf", [](const Options&) { return make<FinishTime>(true); }},
      {"gandiva", [](const Options& told) { return make_packed<GandivaPacked>(told, told.seed); }},
      {"gandiva_fair", [](const Options&) { return make<Plain>(&equal_time, false); }},
      {"isolated", [](const Options&) { return make<Plain>(&timeshare::isolated, false); }},
      {"max_min_fairness",
       [](const Options&) { return make<Plain>(&blind_max_min_fairness, false); }},
      {"max_min_fairness_packed",
       [](const Options& told) { return make_packed<MaxMinPacked>(told); }},
      {"max_min_fairness_perf",
       [](const Options&) { return make<Plain>(&timeshare::max_min_fairness, true); }},
      {"min_total_duration",
       [](const Options&) { return make<Plain>(&blind_min_total_duration, false); }},
      {"min_total_duration_perf",
       [](const Options&) { return make<Plain>(&timeshare::min_total_duration, true); }},
  };
  return all;
}

}  // namespace

std::unique_ptr<Rule> make_rule(std::string_view name, const Options& options) {
  const auto maker = makers().find(name);
  return maker == makers().end() ? nullptr : maker->second(options);
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

}  // namespace almanac::gavel
