// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_front.h"

#include <algorithm>
#include <atomic>
#include <cmath>
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
using Values = std::vector<std::optional<experiment::Judged>>;

/// Evaluates policies by simulation, and keeps all points.
class Evaluation {
 public:
  Evaluation(const std::vector<Objective>& objectives, const PlanOf& plan_of,
             std::atomic<std::size_t>& done)
      : objectives_(objectives), plan_of_(plan_of), done_(done) {}

  Result<Values> operator()(const std::vector<std::string>& policies) {
    Values made(policies.size());
    if (auto ran = run(policies, 0, made); !ran) return tl::unexpected(ran.error());
    if (const auto told = check_objectives(made); !told) return tl::unexpected(told.error());
    for (auto& each : made) {
      const bool is_whole = each && std::all_of(each->values.begin(), each->values.end(),
                                                [](double value) { return std::isfinite(value); });
      if (!is_whole) each.reset();
    }
    return made;
  }

  std::vector<SweepPoint> points{};

 private:
  /// Runs policies together, or, where one of them cannot run, in halves.
  Result<void> run(const std::vector<std::string>& policies, std::size_t first, Values& made) {
    if (interrupted()) return {};
    auto plan = plan_of_(policies);
    if (!plan) return tl::unexpected(plan.error());
    plan->stop = &interrupted();
    const auto swept = experiment::sweep(*plan);
    if (!swept && policies.size() == 1) {
      const Code why = swept.error().code;
      const bool is_unfit = why == Code::usage || why == Code::unsupported;
      return is_unfit ? Result<void>() : tl::unexpected(swept.error());
    }
    if (!swept) {
      const auto middle = policies.begin() + std::ssize(policies) / 2;
      if (auto ran = run({policies.begin(), middle}, first, made); !ran) return ran;
      return run({middle, policies.end()}, first + policies.size() / 2, made);
    }
    if (swept->size() < plan->pairs() * policies.size()) return {};  // interrupted
    for (std::size_t policy = 0; policy < policies.size(); ++policy) {
      experiment::Judged judged{.values = std::vector<double>(objectives_.size())};
      for (std::size_t pair = 0; pair < plan->pairs(); ++pair) {
        const experiment::Summary& summary = (*swept)[pair * policies.size() + policy].summary;
        for (std::size_t at = 0; at < objectives_.size(); ++at)
          judged.values[at] += objectives_[at].of(summary);
        judged.unended += summary.never_ended + summary.never_startable;
      }
      for (double& each : judged.values) each /= static_cast<double>(plan->pairs());
      made[first + policy] = std::move(judged);
    }
    points.insert(points.end(), swept->begin(), swept->end());
    done_ += policies.size();
    return {};
  }

  Result<void> check_objectives(const Values& made) const {
    for (std::size_t at = 0; at < objectives_.size(); ++at) {
      const bool has_any = std::any_of(made.begin(), made.end(), [at](const auto& judged) {
        return !judged || std::isfinite(judged->values[at]);
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
