// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/comparison.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

/// Whether any policy's schedule hangs on the seed: a recorded trace is the same for each.
bool seeds_matter(const std::vector<sim::SweepPoint>& points) {
  std::map<std::pair<double, std::string>, std::uint64_t> signature;
  return std::any_of(points.begin(), points.end(), [&](const sim::SweepPoint& point) {
    const auto& first =
        *signature.try_emplace({point.load, point.summary.policy}, point.summary.signature).first;
    return first.second != point.summary.signature;
  });
}

/// Of the column of policies.
std::size_t policy_width(const std::vector<sim::SweepPoint>& points) {
  std::size_t width = 24;
  for (const sim::SweepPoint& point : points) {
    width = std::max(width, sim::marked_name(point.summary).size());
  }
  return width;
}

/// Means over the seeds, and the least and the greatest average JCT. What no run tells has no
/// column.
void print_table(const std::vector<sim::SweepPoint>& points, std::size_t seeds) {
  const auto any_has = [&](double sim::Summary::*field) {
    return std::any_of(points.begin(), points.end(), [field](const sim::SweepPoint& point) {
      return std::isfinite(point.summary.*field);
    });
  };
  const bool has_speeds = any_has(&sim::Summary::gpu_utilization);
  const bool has_cpu_jobs = any_has(&sim::Summary::avg_cpu_job_wait_s);
  const bool has_deadlines = any_has(&sim::Summary::guarantee);
  // Users are in the file and on the page.
  const bool has_tenants = std::any_of(points.begin(), points.end(), [](const auto& point) {
    return !point.summary.tenants.empty();
  });
  const std::size_t width = policy_width(points);
  fmt::print("{:>6}  {:{}} {:>10} {:>10} {:>10} {:>10} {:>9}{}{}{}{}{}\n", "load", "policy", width,
             "avg JCT", "p99 JCT", "avg wait", "p99 wait", "slowdown",
             has_deadlines ? fmt::format(" {:>8} {:>10}", "in time", "makespan") : "",
             has_speeds ? fmt::format(" {:>12}", "GPUs compute") : "",
             has_cpu_jobs ? fmt::format(" {:>14}", "CPU jobs' wait") : "",
             has_tenants ? fmt::format(" {:>11} {:>5} {:>9} {:>5}", "share error", "Jain",
                                       "worst due", "rho")
                         : "",
             seeds > 1 ? "  avg JCT, least to most over seeds" : "");
  std::map<std::pair<double, std::string>, std::vector<const sim::Summary*>> groups;
  std::vector<std::pair<double, std::string>> order;
  for (const sim::SweepPoint& point : points) {
    auto& group = groups[{point.load, point.summary.policy}];
    if (group.empty()) order.emplace_back(point.load, point.summary.policy);
    group.push_back(&point.summary);
  }
  for (const auto& key : order) {
    const auto& group = groups.at(key);
    const auto mean = [&](double sim::Summary::*field) {
      double total = 0;
      for (const sim::Summary* summary : group) total += summary->*field;
      return total / static_cast<double>(group.size());
    };
    const auto [least, most] = std::minmax_element(
        group.begin(), group.end(),
        [](const auto* a, const auto* b) { return a->avg_jct_s < b->avg_jct_s; });
    fmt::print(
        "{:>6.3g}  {:{}} {:>10} {:>10} {:>10} {:>10} {:>9.2f}{}{}{}{}{}\n", key.first,
        sim::marked_name(*group.front()), width, text::human_time(mean(&sim::Summary::avg_jct_s)),
        text::human_time(mean(&sim::Summary::p99_jct_s)),
        text::human_time(mean(&sim::Summary::avg_wait_s)),
        text::human_time(mean(&sim::Summary::p99_wait_s)),
        mean(&sim::Summary::avg_bounded_slowdown),
        has_deadlines
            ? fmt::format(" {:>8} {:>10}", text::human_share(mean(&sim::Summary::guarantee)),
                          text::human_time(mean(&sim::Summary::makespan_s)))
            : "",
        has_speeds ? fmt::format(" {:>12}", text::human_share(mean(&sim::Summary::gpu_utilization)))
                   : "",
        has_cpu_jobs
            ? fmt::format(" {:>14}", text::human_time(mean(&sim::Summary::avg_cpu_job_wait_s)))
            : "",
        has_tenants ? fmt::format(" {:>11} {:>5.2f} {:>9} {:>5.2f}",
                                  text::human_share(mean(&sim::Summary::share_error)),
                                  mean(&sim::Summary::jain_due),
                                  text::human_share(mean(&sim::Summary::worst_due)),
                                  mean(&sim::Summary::avg_finish_time_ratio))
                    : "",
        seeds > 1 ? fmt::format("  {} to {}", text::human_time((*least)->avg_jct_s),
                                text::human_time((*most)->avg_jct_s))
                  : std::string());
  }
}

/// Who lent to whom under each policy at each load, as means over the seeds.
void print_loans(const std::vector<sim::SweepPoint>& points) {
  struct Group {
    const sim::SweepPoint* first = nullptr;
    double seeds = 0;
    std::map<std::pair<std::string, std::string>, double> gpu_s;  // by who lent, and to whom
  };
  std::map<std::pair<double, std::string>, Group> groups;
  std::vector<Group*> order;
  for (const sim::SweepPoint& point : points) {
    Group& group = groups[{point.load, point.summary.policy}];
    if (group.first == nullptr) {
      group.first = &point;
      order.push_back(&group);
    }
    ++group.seeds;
    for (const sim::TenantLoan& loan : point.summary.loans) {
      group.gpu_s[{loan.from, loan.to}] += loan.gpu_s;
    }
  }
  for (const Group* const group : order) {
    std::vector<sim::TenantLoan> loans;
    for (const auto& [who, gpu_s] : group->gpu_s) {
      loans.push_back({who.first, who.second, gpu_s / group->seeds});
    }
    std::stable_sort(loans.begin(), loans.end(),
                     [](const auto& a, const auto& b) { return a.gpu_s > b.gpu_s; });
    const std::string said = report::loans_in_words(loans);
    if (said.empty()) continue;
    fmt::print("at load {:.3g} under {}: {}\n", group->first->load,
               sim::marked_name(group->first->summary), said);
  }
}

/// What the GPUs did and how CPU jobs waited: means over the seeds, the least and the greatest use,
/// and how much more than under the first policy, seed by seed. Only where speeds were simulated.
void print_use(const std::vector<sim::SweepPoint>& points) {
  if (points.empty() || std::isnan(points.front().summary.gpu_utilization)) return;
  fmt::print("\n{:>6}  {:24} {:>9} {:>18} {:>26} {:>10} {:>10}\n", "load", "policy", "GPU use",
             "over seeds", "against " + points.front().summary.policy, "CPU wait", "p99");
  std::map<std::pair<double, std::string>, std::vector<const sim::Summary*>> groups;
  std::map<std::pair<double, std::uint64_t>, double> first;  // use under the first policy
  std::vector<std::pair<double, std::string>> order;
  std::map<std::pair<double, std::string>, std::vector<double>> gains;
  for (const auto& [load, seed, summary] : points) {
    auto& group = groups[{load, summary.policy}];
    if (group.empty()) order.emplace_back(load, summary.policy);
    group.push_back(&summary);
    const auto base = first.try_emplace({load, seed}, summary.gpu_utilization).first;
    gains[{load, summary.policy}].push_back(summary.gpu_utilization / base->second - 1);
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const auto of = [&](const auto& group, double sim::Summary::*field) {
    std::vector<double> values;
    for (const sim::Summary* summary : group) values.push_back(summary->*field);
    return values;
  };
  for (const auto& key : order) {
    const auto use = of(groups.at(key), &sim::Summary::gpu_utilization);
    const auto [least, most] = std::minmax_element(use.begin(), use.end());
    const std::vector<double>& gain = gains.at(key);
    const auto [worst, best] = std::minmax_element(gain.begin(), gain.end());
    fmt::print(
        "{:>6.3g}  {:24} {:>8.1f}% {:>18} {:>26} {:>10} {:>10}\n", key.first,
        sim::marked_name(*groups.at(key).front()), 100 * mean(use),
        fmt::format("{:.1f} to {:.1f}%", 100 * *least, 100 * *most),
        fmt::format("{:+.1f}% ({:+.1f} to {:+.1f}%)", 100 * mean(gain), 100 * *worst, 100 * *best),
        text::human_time(mean(of(groups.at(key), &sim::Summary::avg_cpu_job_wait_s))),
        text::human_time(mean(of(groups.at(key), &sim::Summary::p99_cpu_job_wait_s))));
  }
}

}  // namespace

void print_sweep(const std::vector<sim::SweepPoint>& points, std::size_t seeds) {
  const bool matter = seeds > 1 && seeds_matter(points);
  print_table(points, matter ? seeds : 1);
  print_loans(points);
  print_use(points);
  if (seeds > 1 && !matter) {
    fmt::print(
        "All {} seeds gave the same schedules: nothing here is random, and there is no "
        "spread to tell.\n",
        seeds);
  }
  const bool any_bound = std::any_of(points.begin(), points.end(),
                                     [](const auto& point) { return point.summary.bound; });
  if (any_bound) fmt::print("{}\n", report::kWhatABoundIs);
}

}  // namespace almanac::cli
