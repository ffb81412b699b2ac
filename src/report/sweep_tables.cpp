// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "policy/recommended.h"
#include "report/comparison.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using figure::Cell;

/// Whether any policy's schedule hangs on the seed: a recorded trace is the same for each.
bool seeds_matter(const std::vector<experiment::SweepPoint>& points) {
  std::map<std::pair<double, std::string>, std::uint64_t> signature;
  return std::any_of(points.begin(), points.end(), [&](const experiment::SweepPoint& point) {
    const auto& first =
        *signature.try_emplace({point.load, point.summary.policy}, point.summary.signature).first;
    return first.second != point.summary.signature;
  });
}

/// The points of a load and a policy: one for each seed.
struct Group {
  double load = 0;
  std::vector<const experiment::SweepPoint*> points{};

  const experiment::Summary& first() const { return points.front()->summary; }
  std::vector<double> all(double experiment::Summary::*field) const {
    std::vector<double> values;
    for (const experiment::SweepPoint* const point : points)
      values.push_back(point->summary.*field);
    return values;
  }
  double mean(double experiment::Summary::*field) const { return mean_of(all(field)); }
  static double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
};

/// In the order of the points.
std::vector<Group> groups_of(const std::vector<experiment::SweepPoint>& points) {
  std::map<std::pair<double, std::string>, std::size_t> place;
  std::vector<Group> groups;
  for (const experiment::SweepPoint& point : points) {
    const auto [found, is_new] =
        place.try_emplace({point.load, point.summary.policy}, groups.size());
    if (is_new) groups.push_back({.load = point.load});
    groups[found->second].points.push_back(&point);
  }
  return groups;
}

void add_names(figure::Rows<Group>& rows) {
  rows.add("load", [](const Group& of) { return Cell(of.load, fmt::format("{:.3g}", of.load)); });
  rows.add(figure::Tier::key, "policy",
           [](const Group& of) { return experiment::marked_name(of.first()); });
}

/// Returns means over the seeds, and the lowest and highest average JCT. A value that no run has
/// gets no column.
figure::Listing means_of(const std::vector<Group>& groups, bool has_spread) {
  const auto any_has = [&](double experiment::Summary::*field) {
    return std::any_of(groups.begin(), groups.end(), [field](const Group& of) {
      const std::vector<double> values = of.all(field);
      return std::any_of(values.begin(), values.end(),
                         [](double each) { return std::isfinite(each); });
    });
  };
  // Users are in the file and on the page.
  const bool has_tenants = std::any_of(groups.begin(), groups.end(), [](const Group& of) {
    return std::any_of(of.points.begin(), of.points.end(),
                       [](const auto* point) { return !point->summary.tenants.empty(); });
  });
  figure::Rows rows(groups);
  const auto time = [&](const char* name, const char* label,
                        double experiment::Summary::*field) -> auto& {
    return rows
        .add(
            name, label, [=](const Group& of) { return of.mean(field); }, text::human_time)
        .right();
  };
  const auto number = [&](const char* name, const char* label, double experiment::Summary::*field) {
    rows.add(
        name, label, [=](const Group& of) { return of.mean(field); }, figure::Decimals{2});
  };
  const auto share = [&](const char* name, const char* label, double experiment::Summary::*field) {
    rows.add(name, label, [=](const Group& of) {
      return Cell(of.mean(field), text::human_share(of.mean(field)));
    });
  };
  using experiment::Summary;
  add_names(rows);
  time("avg_jct_s", "avg JCT", &Summary::avg_jct_s).key();
  time("p99_jct_s", "p99 JCT", &Summary::p99_jct_s);
  time("avg_wait_s", "avg wait", &Summary::avg_wait_s).key();
  time("p99_wait_s", "p99 wait", &Summary::p99_wait_s);
  number("avg_bounded_slowdown", "slowdown", &Summary::avg_bounded_slowdown);
  if (any_has(&Summary::guarantee)) {
    share("guarantee", "in time", &Summary::guarantee);
    time("makespan_s", "makespan", &Summary::makespan_s);
  }
  if (any_has(&Summary::gpu_utilization)) {
    share("gpu_utilization", "GPU utilization", &Summary::gpu_utilization);
  }
  if (any_has(&Summary::avg_cpu_job_wait_s)) {
    time("avg_cpu_job_wait_s", "CPU jobs' wait", &Summary::avg_cpu_job_wait_s);
  }
  if (has_tenants) {
    share("share_error", "share error", &Summary::share_error);
    number("jain_fair_share", "Jain", &Summary::jain_fair_share);
    share("worst_fair_share", "worst fair share", &Summary::worst_fair_share);
    number("avg_finish_time_ratio", "rho", &Summary::avg_finish_time_ratio);
  }
  if (has_spread) {
    rows.add("avg_jct_spread", "avg JCT, least to most over seeds", [](const Group& of) {
      const std::vector<double> all = of.all(&Summary::avg_jct_s);
      const auto [least, most] = std::minmax_element(all.begin(), all.end());
      return fmt::format("{} to {}", text::human_time(*least), text::human_time(*most));
    });
  }
  return rows;
}

/// Who lent to whom under each policy at each load, as means over the seeds.
std::string loans_of(const std::vector<Group>& groups) {
  std::string made;
  for (const Group& group : groups) {
    std::map<std::pair<std::string, std::string>, double> gpu_s;  // by who lent, and to whom
    for (const experiment::SweepPoint* const point : group.points) {
      for (const experiment::TenantLoan& loan : point->summary.loans) {
        gpu_s[{loan.from, loan.to}] += loan.gpu_s;
      }
    }
    std::vector<experiment::TenantLoan> loans;
    for (const auto& [who, sum] : gpu_s) {
      loans.push_back({who.first, who.second, sum / static_cast<double>(group.points.size())});
    }
    std::stable_sort(loans.begin(), loans.end(),
                     [](const auto& a, const auto& b) { return a.gpu_s > b.gpu_s; });
    const std::string said = loans_in_words(loans);
    if (said.empty()) continue;
    made += fmt::format("at load {:.3g} under {}: {}\n", group.load,
                        experiment::marked_name(group.first()), said);
  }
  return made;
}

/// What the GPUs did and how CPU jobs waited: means over the seeds, the least and the greatest use,
/// and how much more than under the baseline, seed by seed. Only where speeds were simulated.
std::string use_of(const std::vector<Group>& groups, const figure::TableForm& form) {
  using experiment::Summary;
  if (groups.empty() || std::isnan(groups.front().first().gpu_utilization)) return "";
  const std::string& baseline =
      groups[policy::baseline_of(groups, [](const Group& of) { return of.first().policy; })]
          .first()
          .policy;
  std::map<std::pair<double, std::uint64_t>, double> before;  // use under the baseline
  for (const Group& group : groups) {
    if (group.first().policy != baseline) continue;
    for (const experiment::SweepPoint* const point : group.points) {
      before.try_emplace({point->load, point->seed}, point->summary.gpu_utilization);
    }
  }
  figure::Rows rows(groups);
  const auto time = [&](const char* name, const char* label, double Summary::*field) {
    rows.add(
            name, label, [=](const Group& of) { return of.mean(field); }, text::human_time)
        .right();
  };
  add_names(rows);
  rows.add(
      "gpu_utilization", "GPU use",
      [](const Group& of) { return of.mean(&Summary::gpu_utilization); }, figure::Percents{});
  rows.add("over_seeds", "over seeds",
           [](const Group& of) {
             const std::vector<double> use = of.all(&Summary::gpu_utilization);
             const auto [least, most] = std::minmax_element(use.begin(), use.end());
             return fmt::format("{:.1f} to {:.1f}%", 100 * *least, 100 * *most);
           })
      .right();
  rows.add("gain", "against " + baseline,
           [&](const Group& of) {
             std::vector<double> gains;
             for (const experiment::SweepPoint* const point : of.points) {
               gains.push_back(
                   point->summary.gpu_utilization / before.at({point->load, point->seed}) - 1);
             }
             const auto [worst, best] = std::minmax_element(gains.begin(), gains.end());
             return fmt::format("{:+.1f}% ({:+.1f} to {:+.1f}%)", 100 * Group::mean_of(gains),
                                100 * *worst, 100 * *best);
           })
      .right();
  time("avg_cpu_job_wait_s", "CPU wait", &Summary::avg_cpu_job_wait_s);
  time("p99_cpu_job_wait_s", "p99", &Summary::p99_cpu_job_wait_s);
  return "\n" + rows.table(form);
}

}  // namespace

std::string sweep_tables(const std::vector<experiment::SweepPoint>& points, std::size_t seeds,
                         const figure::TableForm& form) {
  const bool matter = seeds > 1 && seeds_matter(points);
  const std::vector<Group> groups = groups_of(points);
  std::string made = means_of(groups, matter).table(form) + loans_of(groups) + use_of(groups, form);
  if (seeds > 1 && !matter) {
    made += fmt::format(
        "All {} seeds gave the same schedules: these policies use no randomness, so there is no "
        "spread.\n",
        seeds);
  }
  const bool any_bound = std::any_of(points.begin(), points.end(),
                                     [](const auto& point) { return point.summary.bound; });
  if (any_bound) made += fmt::format("{}\n", kWhatAnOracleIs);
  return made;
}

}  // namespace almanac::report
