// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_front.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace almanac::cli {
namespace {

using experiment::Objective;
using experiment::SweepPoint;
using Values = std::vector<std::optional<std::vector<double>>>;

/// Evaluates policies by simulation, and keeps all points.
class Evaluation {
 public:
  Evaluation(const std::vector<Objective>& objectives, const PlanOf& plan_of,
             std::atomic<std::size_t>& done)
      : objectives_(objectives), plan_of_(plan_of), done_(done) {}

  Result<Values> operator()(const std::vector<std::string>& policies) {
    Values made(policies.size());
    std::vector<std::uint64_t> unended(policies.size());
    if (auto ran = run(policies, 0, made, unended); !ran) return tl::unexpected(ran.error());
    if (const auto told = check_objectives(made); !told) return tl::unexpected(told.error());
    // Means over the jobs that ended say nothing where others never do.
    for (std::size_t at = 0; at < made.size(); ++at) {
      if (made[at]) fewest_unended_ = std::min(fewest_unended_, unended[at]);
    }
    for (std::size_t at = 0; at < made.size(); ++at) {
      const bool is_whole = made[at] && unended[at] <= fewest_unended_ &&
                            std::all_of(made[at]->begin(), made[at]->end(),
                                        [](double value) { return std::isfinite(value); });
      if (!is_whole) made[at].reset();
    }
    return made;
  }

  std::vector<SweepPoint> points{};

 private:
  /// Runs policies together, or, where one of them cannot run, in halves.
  Result<void> run(const std::vector<std::string>& policies, std::size_t first, Values& made,
                   std::vector<std::uint64_t>& unended) {
    if (interrupted()) return {};
    auto plan = plan_of_(policies);
    if (!plan) return tl::unexpected(plan.error());
    plan->stop = &interrupted();
    const auto swept = experiment::sweep(*plan);
    if (!swept && policies.size() == 1) return {};
    if (!swept) {
      const auto middle = policies.begin() + std::ssize(policies) / 2;
      if (auto ran = run({policies.begin(), middle}, first, made, unended); !ran) return ran;
      return run({middle, policies.end()}, first + policies.size() / 2, made, unended);
    }
    if (swept->size() < plan->pairs() * policies.size()) return {};  // interrupted
    for (std::size_t policy = 0; policy < policies.size(); ++policy) {
      std::vector<double> sums(objectives_.size());
      for (std::size_t pair = 0; pair < plan->pairs(); ++pair) {
        const experiment::Summary& summary = (*swept)[pair * policies.size() + policy].summary;
        for (std::size_t at = 0; at < sums.size(); ++at) sums[at] += objectives_[at].of(summary);
        unended[first + policy] += summary.never_ended + summary.never_startable;
      }
      for (double& sum : sums) sum /= static_cast<double>(plan->pairs());
      made[first + policy] = std::move(sums);
    }
    points.insert(points.end(), swept->begin(), swept->end());
    done_ += policies.size();
    return {};
  }

  Result<void> check_objectives(const Values& made) const {
    for (std::size_t at = 0; at < objectives_.size(); ++at) {
      const bool has_any = std::any_of(made.begin(), made.end(), [at](const auto& values) {
        return !values || std::isfinite((*values)[at]);
      });
      if (has_any) continue;
      return fail(Code::usage,
                  fmt::format("--pareto {}: simulations of this log have no such figure ({})",
                              objectives_[at].name, objectives_[at].title));
    }
    return {};
  }

  const std::vector<Objective>& objectives_;
  const PlanOf& plan_of_;
  std::atomic<std::size_t>& done_;
  std::uint64_t fewest_unended_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

Result<FoundFront> find_front(const std::vector<std::string>& policies,
                              const std::vector<Objective>& objectives, std::size_t budget,
                              const PlanOf& plan_of) {
  std::atomic<std::size_t> done{0};
  Evaluation evaluation(objectives, plan_of, done);
  const auto most = static_cast<double>(policies.size() + budget);
  const ProgressBar bar("searching", [&] { return static_cast<double>(done.load()) / most; });
  auto front = experiment::search_front(
      policies, [&](const std::vector<std::string>& each) { return evaluation(each); },
      [&](const std::string& policy) {
        return interrupted() ? std::vector<std::string>{}
                             : experiment::neighbours_of(policy, policies);
      },
      budget);
  if (!front) return tl::unexpected(front.error());
  return FoundFront{.front = *std::move(front), .points = std::move(evaluation.points)};
}

}  // namespace almanac::cli
