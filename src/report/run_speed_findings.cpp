// SPDX-License-Identifier: Apache-2.0
#include "report/run_speed_findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using figure::Finding;
using text::grouped;
using text::human_share;
using text::human_time;
using Policies = std::vector<PolicyDigest>;

std::string jobs(std::int64_t number) {
  return fmt::format("{} CPU job{}", grouped(number), number == 1 ? "" : "s");
}

/// "GPU utilization is 44 % and GPU allocation 81 %".
std::optional<Finding> use_of_gpus(const Policies& policies) {
  const PolicyDigest* most = nullptr;
  for (const PolicyDigest& each : policies) {
    const double use = each.summary.gpu_utilization;
    if (!std::isfinite(use)) continue;
    if (most == nullptr || use > most->summary.gpu_utilization) most = &each;
  }
  if (most == nullptr) return std::nullopt;
  const auto told = [](const Summary& s) {
    return fmt::format("GPU utilization is {} and GPU allocation {}",
                       human_share(s.gpu_utilization), human_share(s.gpu_allocation));
  };
  const Summary& first = policies.front().summary;
  const Summary& best = most->summary;
  Finding finding{.figure = "run_timeline"};
  const double gain = best.gpu_utilization / first.gpu_utilization - 1;
  if (policies.size() == 1) {
    finding.headline = told(best) + ".";
  } else if (most == &policies.front() || !(gain > 0.005)) {
    finding.headline =
        fmt::format("No policy keeps GPUs busier than {}: {}.", marked_name(first), told(first));
  } else {
    finding.headline = fmt::format(
        "{} keeps GPUs busiest: {}. Utilization is {} higher than under {} ({}, "
        "allocation {}).",
        marked_name(best), told(best), human_share(gain), marked_name(first),
        human_share(first.gpu_utilization), human_share(first.gpu_allocation));
  }
  finding.detail =
      "Until the last submission. Allocated GPUs that do not compute wait for cores, memory or "
      "other GPUs, or are slowed by neighbors.";
  return finding;
}

/// The cause that cost most allocated GPU time; nullptr if none cost much.
const Cause* worst_cause(const RateTotals& total) {
  const Cause* const worst = std::max_element(
      kCauses.begin(), kCauses.end(),
      [&](const Cause& a, const Cause& b) { return a.cost_s(total) < b.cost_s(total); });
  return worst->cost_s(total) > 0.005 * total.held_s ? worst : nullptr;
}

std::optional<Finding> rates(const Policies& policies, std::size_t best) {
  const RateTotals& first = policies.front().rates.all;
  const RateTotals& other = policies[best].rates.all;
  if (first.held_s <= 0) return std::nullopt;
  const auto told = [](const RateTotals& total) {
    return fmt::format("{:.2f}", total.done_s / total.held_s);
  };
  Finding finding{.figure = "run_held_back"};
  finding.headline = fmt::format("Under {} GPU jobs run at {} of their recorded speed",
                                 marked_name(policies.front().summary), told(first));
  if (best > 0 && other.held_s > 0) {
    finding.headline +=
        fmt::format(", under {} at {}", marked_name(policies[best].summary), told(other));
  }
  finding.headline += ".";
  const Cause* const cause = worst_cause(first);
  if (cause == nullptr) return finding;
  const auto share = [](const Cause& of, const RateTotals& total) {
    return human_share(of.cost_s(total) / total.held_s);
  };
  finding.detail =
      fmt::format("The largest loss of allocated GPU time is to {}: {} under {}", cause->words,
                  share(*cause, first), marked_name(policies.front().summary));
  const Cause* const another = best > 0 && other.held_s > 0 ? worst_cause(other) : nullptr;
  if (another != nullptr) {
    const std::string to = another == cause ? "" : fmt::format("to {} ", another->words);
    finding.detail += fmt::format(", {}{} under {}", to, share(*another, other),
                                  marked_name(policies[best].summary));
  }
  finding.detail += ".";
  return finding;
}

std::optional<Finding> cpu_waits(const Policies& policies, std::size_t best) {
  const Summary& first = policies.front().summary;
  const Summary& other = policies[best].summary;
  if (first.cpu_jobs == 0 || other.cpu_jobs == 0) return std::nullopt;
  Finding finding{.figure = "run_cpu_jobs"};
  finding.headline = fmt::format("CPU jobs wait {} on average under {}",
                                 human_time(first.avg_cpu_job_wait_s), marked_name(first));
  if (best > 0) {
    finding.headline +=
        fmt::format(", {} under {}", human_time(other.avg_cpu_job_wait_s), marked_name(other));
  }
  finding.headline += ".";
  finding.detail = fmt::format("p99 wait: {} under {}", human_time(first.p99_cpu_job_wait_s),
                               marked_name(first));
  if (best > 0) {
    finding.detail +=
        fmt::format(", {} under {}", human_time(other.p99_cpu_job_wait_s), marked_name(other));
  }
  finding.detail += ".";
  return finding;
}

/// Which jobs were throttled or evicted, under the policy that did most of it.
std::optional<Finding> gave_way(const Policies& policies) {
  const auto most =
      std::max_element(policies.begin(), policies.end(), [](const auto& a, const auto& b) {
        const CpuJobTotals& x = a.rates.cpu;
        const CpuJobTotals& y = b.rates.cpu;
        return x.throttled + x.stopped < y.throttled + y.stopped;
      });
  const CpuJobTotals& total = most->rates.cpu;
  if (total.throttled + total.stopped == 0) return std::nullopt;
  Finding finding{.figure = "run_gave_way"};
  if (total.throttled > 0) {
    finding.headline =
        fmt::format("{} throttles {} of {} for {} on average", marked_name(most->summary),
                    grouped(total.throttled), jobs(total.jobs),
                    human_time(total.throttled_s / static_cast<double>(total.throttled)));
    const double hours = total.cut_s / 3600;
    finding.detail =
        fmt::format("Throttling cuts {} core-hours.",
                    hours < 10 ? fmt::format("{:.2g}", hours) : grouped(std::llround(hours)));
  }
  if (total.stopped > 0) {
    finding.headline += total.throttled > 0
                            ? fmt::format(", and evicts {}", grouped(total.stopped))
                            : fmt::format("{} evicts {} of {}", marked_name(most->summary),
                                          grouped(total.stopped), jobs(total.jobs));
    finding.detail += fmt::format("{}Evictions in all: {}.", finding.detail.empty() ? "" : " ",
                                  grouped(total.stops));
  }
  finding.headline += ".";
  return finding;
}

}  // namespace

std::vector<Finding> speed_findings(const Policies& policies, std::size_t best) {
  std::vector<Finding> findings;
  for (auto& finding : {use_of_gpus(policies), rates(policies, best), cpu_waits(policies, best),
                        gave_way(policies)}) {
    if (finding) findings.push_back(*finding);
  }
  return findings;
}

}  // namespace almanac::report
