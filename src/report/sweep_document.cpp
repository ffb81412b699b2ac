// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/recommended.h"
#include "report/comparison.h"
#include "report/shown_command.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "table/digest.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using experiment::SweepPoint;
using figure::Finding;
using text::human_time;
using Points = std::vector<SweepPoint>;

using stats::kNaN;

/// Loads in ascending order, policies and seeds in the order of the sweep.
struct Axes {
  std::vector<double> loads;
  std::vector<std::string> policies;
  std::vector<std::string> oracles;  ///< Policies that use true run times.
  std::vector<std::string> choices;  ///< The others; all policies if each is an oracle.
  std::vector<std::uint64_t> seeds;
};

Axes axes_of(const Points& points) {
  Axes axes;
  const auto add = [](auto& list, const auto& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  };
  for (const SweepPoint& point : points) {
    add(axes.loads, point.load);
    add(axes.policies, point.summary.policy);
    add(axes.seeds, point.seed);
    add(point.summary.bound ? axes.oracles : axes.choices, point.summary.policy);
  }
  if (axes.choices.empty()) axes.choices = axes.policies;
  std::sort(axes.loads.begin(), axes.loads.end());
  return axes;
}

Spread spread_at(const Points& points, double load, const std::string& policy,
                 double Summary::*field) {
  std::vector<double> values;
  for (const SweepPoint& point : points) {
    if (point.load == load && point.summary.policy == policy) {
      values.push_back(point.summary.*field);
    }
  }
  return spread_of(values);
}

/// What a curve shows: a time, or a share.
struct Shown {
  const char* id = "";
  const char* title = "";
  const char* column = "";
  double Summary::*field = nullptr;
  figure::Unit unit = figure::Unit::seconds;
};

bool any_has(const Points& points, double Summary::*field) {
  return std::any_of(points.begin(), points.end(), [field](const SweepPoint& point) {
    return std::isfinite(point.summary.*field);
  });
}

/// Figures that appear if runs have their values.
constexpr Shown kWhereKnown[] = {
    {"sweep_guarantee", "Deadlines met", "guarantee", &Summary::guarantee, figure::Unit::fraction},
    {"sweep_tardiness", "Mean tardiness", "avg_tardiness_s", &Summary::avg_tardiness_s},
    {"sweep_gpu_utilization", "GPU utilization", "gpu_utilization", &Summary::gpu_utilization,
     figure::Unit::fraction},
    {"sweep_cpu_allocation", "CPU allocation", "cpu_allocation", &Summary::cpu_allocation,
     figure::Unit::fraction},
    {"sweep_cpu_job_wait", "Mean wait of CPU jobs", "avg_cpu_job_wait_s",
     &Summary::avg_cpu_job_wait_s},
    {"sweep_p99_cpu_job_wait", "p99 wait of CPU jobs", "p99_cpu_job_wait_s",
     &Summary::p99_cpu_job_wait_s},
    {"sweep_share_error", "Unfairly distributed GPU time", "share_error", &Summary::share_error,
     figure::Unit::fraction},
    {"sweep_worst_fair_share", "Lowest usage as a fraction of fair share", "worst_fair_share",
     &Summary::worst_fair_share, figure::Unit::fraction}};

figure::Figure curve(const Points& points, const Axes& axes, const Shown& shown) {
  const auto& [id, title, column, field, unit] = shown;
  figure::Figure figure{.id = id, .title = title};
  auto& load = figure.number("load", "Load", figure::Unit::ratio);
  auto& policy = figure.text("policy", "Policy");
  const bool is_time = unit == figure::Unit::seconds;
  const std::string low_name = is_time ? "low_s" : "low";
  const std::string high_name = is_time ? "high_s" : "high";
  auto& mean = figure.number(column, title, unit);
  auto& low = figure.number(low_name, "Low", unit);
  auto& high = figure.number(high_name, "High", unit);
  const auto rounded = [is_time](double value) {
    const double digits = is_time ? 10 : 1e4;
    return std::round(digits * value) / digits;
  };
  for (const std::string& name : axes.policies) {
    for (const double at : axes.loads) {
      const Spread spread = spread_at(points, at, name, field);
      load.add(at);
      policy.add(name);
      mean.add(rounded(spread.mean));
      low.add(std::max(0.0, rounded(spread.low)));  // an interval may reach below 0
      high.add(rounded(spread.high));
    }
  }
  const std::size_t seeds = axes.seeds.size();
  figure.caption = "A load of 2 means that jobs arrive twice as fast as in the log.";
  if (seeds > 1) {
    figure.caption +=
        fmt::format(" Means over {} seeds; low and high are {}.", seeds,
                    seeds > 2 ? "the 95 % CI of the mean" : "the minimum and maximum");
  }
  figure.n = static_cast<std::int64_t>(points.size());
  figure::Chart chart{.kind = "line", .x = "load", .y = {column}, .by = "policy"};
  if (seeds > 1) chart.band = {low_name, high_name};
  figure.charts.push_back(std::move(chart));
  return figure;
}

figure::Figure table(const Points& points) {
  using figure::Unit;
  figure::Figure figure{.id = "sweep_points", .title = "All simulations"};
  auto& load = figure.number("load", "Load", Unit::ratio);
  auto& seed = figure.number("seed", "Seed");
  auto& policy = figure.text("policy", "Policy");
  auto& bound = figure.text("bound", "Oracle");
  auto& jct = figure.number("avg_jct_s", "Mean completion time", Unit::seconds);
  auto& p99_jct = figure.number("p99_jct_s", "p99 completion time", Unit::seconds);
  auto& wait = figure.number("avg_wait_s", "Mean wait", Unit::seconds);
  auto& p99_wait = figure.number("p99_wait_s", "p99 wait", Unit::seconds);
  auto& slowdown = figure.number("avg_bounded_slowdown", "Mean slowdown", Unit::ratio);
  auto& taken = figure.number("gpu_allocation", "GPU allocation", Unit::fraction);
  auto& stops = figure.number("preemptions", "Preemptions");
  auto& finished = figure.number("finished", "Finished jobs", Unit::jobs);
  for (const Shown& shown : kWhereKnown) {
    if (!any_has(points, shown.field)) continue;
    auto& values = figure.number(shown.column, shown.title, shown.unit);
    for (const SweepPoint& point : points) values.add(point.summary.*shown.field);
  }
  for (const SweepPoint& point : points) {
    const Summary& s = point.summary;
    load.add(point.load);
    seed.add(static_cast<double>(point.seed));
    policy.add(s.policy);
    bound.add(s.bound ? "oracle" : "");
    jct.add(s.avg_jct_s);
    p99_jct.add(s.p99_jct_s);
    wait.add(s.avg_wait_s);
    p99_wait.add(s.p99_wait_s);
    slowdown.add(s.avg_bounded_slowdown);
    taken.add(s.gpu_allocation);
    stops.add(static_cast<double>(s.preemptions));
    finished.add(static_cast<double>(s.finished));
  }
  figure.caption =
      "One row for each policy, load and seed. Finished jobs only; allocation until the last "
      "submission.";
  figure.n = static_cast<std::int64_t>(points.size());
  return figure;
}

/// The choice with the least mean completion time at a load; nothing where none has one.
const std::string* best_at(const Points& points, const Axes& axes, double load) {
  const std::string* best = nullptr;
  double least = kNaN;
  for (const std::string& policy : axes.choices) {
    const double jct = spread_at(points, load, policy, &Summary::avg_jct_s).mean;
    if (std::isnan(jct) || (best != nullptr && jct >= least)) continue;
    best = &policy;
    least = jct;
  }
  return best;
}

/// The best policy has the lowest mean JCT over all points, with equal weight for each load.
figure::Compared compared_of(const Points& points, const Axes& axes) {
  figure::Compared compared;
  if (!axes.policies.empty()) {
    compared.baseline = axes.policies[policy::baseline_of(axes.policies, std::identity())];
  }
  double least = kNaN;
  double least_choice = kNaN;
  for (const std::string& policy : axes.policies) {
    const bool is_oracle =
        std::find(axes.oracles.begin(), axes.oracles.end(), policy) != axes.oracles.end();
    compared.policies.push_back({policy, is_oracle ? "oracle" : ""});
    double sum = 0;
    for (const double load : axes.loads) {
      sum += spread_at(points, load, policy, &Summary::avg_jct_s).mean;
    }
    if (!std::isnan(sum) && !(sum >= least)) {
      least = sum;
      compared.best = policy;
    }
    if (!is_oracle && !std::isnan(sum) && !(sum >= least_choice)) {
      least_choice = sum;
      compared.best_choice = policy;
    }
  }
  return compared;
}

/// Which policy is best, load by load.
void add_best(std::vector<Finding>& findings, const Points& points, const Axes& axes) {
  std::string detail;
  std::vector<const std::string*> bests;
  for (const double load : axes.loads) {
    const std::string* const best = best_at(points, axes, load);
    if (best == nullptr) continue;
    if (std::find(bests.begin(), bests.end(), best) == bests.end()) bests.push_back(best);
    detail += fmt::format(
        "{}{} under {} at {:.3g}x", detail.empty() ? "Mean completion time: " : ", ",
        human_time(spread_at(points, load, *best, &Summary::avg_jct_s).mean), *best, load);
  }
  if (bests.empty()) {
    findings.push_back({.headline = "No job finished."});
    return;
  }
  Finding finding{.detail = detail + ".", .figure = "sweep_jct"};
  const bool all_oracles = axes.choices == axes.policies && !axes.oracles.empty();
  if (all_oracles) {
    finding.detail += fmt::format(" Every policy is an oracle. {}", kWhatAnOracleIs);
  } else if (!axes.oracles.empty()) {
    finding.detail +=
        fmt::format(" Left out as oracles: {}. {}", fmt::join(axes.oracles, ", "), kWhatAnOracleIs);
  }
  if (axes.policies.size() == 1) {
    finding.headline = fmt::format("Mean completion time under {} by load.", *bests.front());
  } else if (bests.size() == 1) {
    finding.headline =
        axes.loads.size() > 1
            ? fmt::format("{} has the shortest mean completion time at every load.", *bests.front())
            : fmt::format("{} has the shortest mean completion time.", *bests.front());
  } else {
    finding.headline = fmt::format(
        "The best policy depends on the load: {} at {:.3g}x, {} at "
        "{:.3g}x.",
        *best_at(points, axes, axes.loads.front()), axes.loads.front(),
        *best_at(points, axes, axes.loads.back()), axes.loads.back());
  }
  findings.push_back(std::move(finding));
}

/// Adds the loads at which the curves of two policies cross.
void add_crossings(std::vector<Finding>& findings, const Points& points, const Axes& axes) {
  std::string crossings;
  std::size_t count = 0;
  for (std::size_t a = 0; a < axes.policies.size(); ++a) {
    for (std::size_t b = a + 1; b < axes.policies.size(); ++b) {
      double before = kNaN;
      double before_load = kNaN;
      for (const double load : axes.loads) {
        const double gap = spread_at(points, load, axes.policies[a], &Summary::avg_jct_s).mean -
                           spread_at(points, load, axes.policies[b], &Summary::avg_jct_s).mean;
        if (std::isnan(gap) || gap == 0) continue;
        if (before * gap < 0) {
          constexpr std::size_t kShown = 4;
          if (++count <= kShown) {
            crossings += fmt::format("{}{} and {} between {:.3g}x and {:.3g}x",
                                     crossings.empty() ? "" : "; ", axes.policies[a],
                                     axes.policies[b], before_load, load);
          }
        }
        before = gap;
        before_load = load;
      }
    }
  }
  if (count == 0) return;
  findings.push_back(
      {.headline = fmt::format(
           "{} rank as the load rises.",
           count == 1 ? "Two policies change" : fmt::format("{} pairs of policies change", count)),
       .detail =
           fmt::format("By mean completion time: {}{}.", crossings, count > 4 ? "; and more" : ""),
       .figure = "sweep_jct"});
}

/// What more load costs, under the policy that suffers least and the one that suffers most.
void add_growth(std::vector<Finding>& findings, const Points& points, const Axes& axes) {
  if (axes.loads.size() < 2) return;
  struct Growth {
    const std::string* policy;
    double from, to;
  };
  std::vector<Growth> growths;
  for (const std::string& policy : axes.policies) {
    const Growth growth{&policy,
                        spread_at(points, axes.loads.front(), policy, &Summary::avg_wait_s).mean,
                        spread_at(points, axes.loads.back(), policy, &Summary::avg_wait_s).mean};
    if (!std::isnan(growth.from) && !std::isnan(growth.to)) growths.push_back(growth);
  }
  if (growths.empty()) return;
  const auto [least, most] = std::minmax_element(
      growths.begin(), growths.end(),
      [](const Growth& a, const Growth& b) { return a.to - a.from < b.to - b.from; });
  Finding finding{.figure = "sweep_wait"};
  const auto told = [&](const Growth& growth) {
    return fmt::format("{} to {} under {}", human_time(growth.from), human_time(growth.to),
                       *growth.policy);
  };
  finding.headline = fmt::format("From load {:.3g}x to {:.3g}x the mean wait rises from {}.",
                                 axes.loads.front(), axes.loads.back(), told(*most));
  if (growths.size() > 1)
    finding.detail = fmt::format("The smallest change is from {}.", told(*least));
  findings.push_back(std::move(finding));
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double value) { return std::isfinite(value); });
  if (known.empty()) return {kNaN, kNaN, kNaN};
  const double mean = stats::mean(known);
  if (known.size() < 3) {
    const auto [low, high] = std::minmax_element(known.begin(), known.end());
    return {mean, *low, *high};
  }
  // 97.5 % points of Student's t for 2 to 30 degrees of freedom; beyond, the normal one is near.
  constexpr std::array kStudent = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                   2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
                                   2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060,
                                   2.056, 2.052, 2.048, 2.045, 2.042};
  double squares = 0;
  for (const double value : known) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(known.size());
  const std::size_t at = known.size() - 3;
  const double t = at < kStudent.size() ? kStudent[at] : 1.96;
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

figure::Document sweep_document(const std::string& trace, const Points& points,
                                const std::vector<std::string>& command) {
  const Axes axes = axes_of(points);
  figure::Document document;
  document.kind = "sweep";
  document.title = std::filesystem::path(trace).filename().string();
  document.subtitle = fmt::format(
      "{} at {} with {}: {}", text::counted(axes.policies.size(), "policy", "policies"),
      text::counted(axes.loads.size(), "load"), text::counted(axes.seeds.size(), "seed"),
      text::counted(points.size(), "simulation"));
  const auto fact = [&](const char* label, std::size_t value) {
    document.facts.emplace_back(label, text::grouped(static_cast<std::int64_t>(value)));
  };
  fact("policies", axes.policies.size());
  fact("loads", axes.loads.size());
  fact("seeds", axes.seeds.size());
  fact("simulations", points.size());
  std::uint64_t jobs = 0;
  for (const SweepPoint& point : points) jobs = std::max(jobs, point.summary.jobs);
  fact("GPU jobs in each", jobs);

  document.compared = compared_of(points, axes);
  add_best(document.findings, points, axes);
  add_crossings(document.findings, points, axes);
  add_growth(document.findings, points, axes);

  figure::Section curves{.id = "curves", .title = "By load", .text = {}};
  constexpr Shown kTimes[] = {
      {"sweep_jct", "Mean completion time", "avg_jct_s", &Summary::avg_jct_s},
      {"sweep_wait", "Mean wait", "avg_wait_s", &Summary::avg_wait_s},
      {"sweep_p99_jct", "p99 completion time", "p99_jct_s", &Summary::p99_jct_s},
      {"sweep_p99_wait", "p99 wait", "p99_wait_s", &Summary::p99_wait_s}};
  for (const Shown& shown : kTimes) curves.figures.push_back(curve(points, axes, shown));
  for (const Shown& shown : kWhereKnown) {
    if (any_has(points, shown.field)) curves.figures.push_back(curve(points, axes, shown));
  }
  document.sections.push_back(std::move(curves));
  figure::Section all{.id = "all", .title = "All simulations", .text = {}};
  all.figures.push_back(table(points));
  document.sections.push_back(std::move(all));
  document.provenance = {.trace = trace,
                         .sha256 = {},
                         .filter = {},
                         .jobs = static_cast<std::int64_t>(jobs),
                         .hash = table::sha256(experiment::to_csv(points)).substr(0, 16),
                         .version = ALMANAC_VERSION,
                         .command = shown_command(command)};
  return document;
}

}  // namespace almanac::report
