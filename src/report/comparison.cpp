// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "experiment/summary_fields.h"
#include "policy/recommended.h"
#include "report/recommendation.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using figure::Cell;
using figure::Listing;
using figure::Tier;
using text::grouped;
using text::human_time;

constexpr double kJoulesPerMwh = 3.6e9;

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-";
}

std::string decimal(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "-";
}

std::string count(std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); }

/// Whether others may be compared with it: a simulation of all jobs.
bool is_whole(const Summary& summary) { return summary.complete && !summary.recorded; }

/// The fewest jobs without an end under any policy.
std::uint64_t fewest_left(const std::vector<Summary>& summaries) {
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const Summary& each : summaries) {
    if (is_whole(each)) fewest = std::min(fewest, each.never_ended);
  }
  return fewest;
}

/// Whether any run has the figure: speeds, cores or CPU jobs may not be simulated.
bool any_has(const std::vector<Summary>& summaries, double Summary::*field) {
  return std::any_of(summaries.begin(), summaries.end(),
                     [field](const Summary& s) { return std::isfinite(s.*field); });
}

/// Fills a table, and marks the best of a column.
class Table {
 public:
  explicit Table(const std::vector<Summary>& summaries)
      : summaries_(summaries), rows_(summaries), fewest_left_(fewest_left(summaries)) {}

  template <typename... Get>
  Listing::Column& add(const char* name, std::string label, const Get&... get) {
    return rows_.add(name, std::move(label), get...).right().table_only();
  }
  /// Adds a column of times; less is better.
  Listing::Column& time(const char* name, std::string label, double Summary::*of) {
    return less(add(name, std::move(label), of, text::human_time));
  }
  Listing::Column& share(const char* name, std::string label, double Summary::*of) {
    return add(name, std::move(label), of, percent);
  }
  Listing::Column& number(const char* name, std::string label, double Summary::*of) {
    return add(name, std::move(label), of, decimal);
  }
  Listing::Column& count(const char* name, std::string label, std::uint64_t Summary::*of) {
    return add(name, std::move(label), of, report::count);
  }
  Listing::Column& less(Listing::Column& column) const { return mark(column, true); }
  Listing::Column& more(Listing::Column& column) const { return mark(column, false); }

  const std::vector<Summary>& summaries() const { return summaries_; }
  figure::Rows<Summary>& rows() { return rows_; }

 private:
  static double number_of(const Cell& cell) {
    if (const auto* const count = std::get_if<std::int64_t>(&cell.value())) {
      return static_cast<double>(*count);
    }
    const auto* const number = std::get_if<double>(&cell.value());
    return number == nullptr ? std::nan("") : *number;
  }
  /// Whether it may be called best: a cluster can run it, and no policy ends more jobs.
  bool is_choice(const Summary& summary) const {
    return is_deployable(summary) && summary.never_ended == fewest_left_;
  }
  /// Marks the best of the policies that a site can choose, if there are several.
  Listing::Column& mark(Listing::Column& column, bool less_is_better) const {
    double best = std::nan("");
    for (std::size_t row = 0; row < summaries_.size(); ++row) {
      if (summaries_.size() < 2 || !is_choice(summaries_[row])) continue;
      const double value = number_of(column.cells[row]);
      if (std::isnan(best) || (less_is_better ? value < best : value > best)) best = value;
    }
    for (std::size_t row = 0; row < summaries_.size(); ++row) {
      column.cells[row].strong(is_choice(summaries_[row]) && number_of(column.cells[row]) == best);
    }
    return column;
  }

  const std::vector<Summary>& summaries_;
  figure::Rows<Summary> rows_;
  std::uint64_t fewest_left_;
};

/// Use of GPUs and cores, and the waits of GPU jobs and CPU jobs apart.
void add_resources(Table& table) {
  const std::vector<Summary>& summaries = table.summaries();
  if (any_has(summaries, &Summary::gpu_utilization)) {
    table.more(table.share("gpu_utilization", "GPU utilization", &Summary::gpu_utilization));
  }
  if (any_has(summaries, &Summary::cpu_allocation)) {
    table.share("cpu_allocation", "core allocation", &Summary::cpu_allocation).detail();
  }
  const bool any_cpu_job = std::any_of(summaries.begin(), summaries.end(),
                                       [](const Summary& s) { return s.cpu_jobs > 0; });
  if (!any_cpu_job) return;
  table.time("avg_gpu_job_jct_s", "GPU jobs' JCT", &Summary::avg_gpu_job_jct_s).detail();
  table.time("avg_cpu_job_wait_s", "CPU jobs' wait", &Summary::avg_cpu_job_wait_s);
  table.time("p99_cpu_job_wait_s", "CPU jobs' p99", &Summary::p99_cpu_job_wait_s).detail();
}

/// Whether deadlines were met; nothing where no job has a deadline.
void add_deadlines(Table& table) {
  if (!any_has(table.summaries(), &Summary::guarantee)) return;
  table.more(table.share("guarantee", "in time", &Summary::guarantee)).key();
  table.time("avg_tardiness_s", "avg late", &Summary::avg_tardiness_s);
  table.time("p99_tardiness_s", "p99 late", &Summary::p99_tardiness_s);
  table.more(table.add(
      "value_share", "value", [](const Summary& s) { return s.value_earned / s.value_possible; },
      percent));
}

/// Usage against fair share; nothing with fewer than two owners. Users only in a wide table.
void add_dues(Table& table) {
  const std::vector<Summary>& summaries = table.summaries();
  if (!any_has(summaries, &Summary::share_error)) return;
  const bool by_tenant = std::any_of(summaries.begin(), summaries.end(), [](const Summary& s) {
    return s.worst_owner.starts_with("tenant ");
  });
  const Tier tier = by_tenant ? Tier::usual : Tier::wide;
  table.less(table.share("share_error", "share error", &Summary::share_error)).in(tier);
  table.more(table.number("jain_fair_share", "Jain", &Summary::jain_fair_share)).in(tier);
  table
      .more(table.add("worst_fair_share", "worst off",
                      [](const Summary& s) {
                        if (s.worst_owner.empty()) return Cell();
                        return Cell(s.worst_fair_share,
                                    fmt::format("{}: {} of its fair share", s.worst_owner,
                                                percent(s.worst_fair_share)));
                      }))
      .in(tier);
  table
      .less(table.number("avg_finish_time_ratio", "finish-time ratio",
                         &Summary::avg_finish_time_ratio))
      .in(tier);
}

/// How many times shorter the average wait is than under the baseline.
void add_gain(Table& table) {
  std::vector<Summary> whole;
  std::copy_if(table.summaries().begin(), table.summaries().end(), std::back_inserter(whole),
               is_whole);
  if (whole.empty()) whole.push_back(table.summaries().back());
  const Summary& first = whole[policy::baseline_of(whole, &Summary::policy)];
  const double reference = is_whole(first) ? first.avg_wait_s : std::nan("");
  table.add("wait_gain", "vs " + first.policy, [&](const Summary& s) {
    if (!is_whole(s) || !(s.avg_wait_s > 0) || !(reference > 0)) return Cell();
    if (!are_comparable(s, first)) return Cell();
    return Cell(reference / s.avg_wait_s, fmt::format("{:.2f}x", reference / s.avg_wait_s));
  });
}

void add_energy(Table& table) {
  const std::vector<Summary>& summaries = table.summaries();
  const bool any_asleep = std::any_of(summaries.begin(), summaries.end(),
                                      [](const Summary& s) { return s.nodes_asleep > 0; });
  const Tier tier = any_asleep ? Tier::detail : Tier::wide;
  table.number("nodes_asleep", "nodes asleep", &Summary::nodes_asleep).in(tier);
  table.number("wake_ups_a_day", "wake-ups a day", &Summary::wake_ups_a_day).in(tier);
  table.less(table.count("jobs_held_back", "jobs held back", &Summary::jobs_held_back)).in(tier);
  table
      .less(table.add(
          "energy_j", "MWh",
          [](const Summary& s) { return Cell(s.energy_j, decimal(s.energy_j / kJoulesPerMwh)); }))
      .in(tier);
}

/// What jobs cost and emit; shown where signals say so and policies can differ.
void add_bills(Table& table) {
  const std::vector<Summary>& summaries = table.summaries();
  const auto differs = [&](double Summary::*total, double Summary::*energy) {
    return std::any_of(summaries.begin(), summaries.end(), [&](const Summary& s) {
      const Summary& first = summaries.front();
      return std::abs(s.*total * first.*energy - first.*total * s.*energy) >
             1e-9 * std::abs(first.*total * first.*energy);
    });
  };
  const auto tier = [&](double Summary::*total) {
    return differs(total, &Summary::jobs_kwh) ? Tier::usual : Tier::wide;
  };
  table.less(table.number("jobs_cost", "cost of jobs", &Summary::jobs_cost))
      .in(tier(&Summary::jobs_cost));
  table
      .less(table.add(
          "jobs_kg_co2", "CO2 of jobs",
          [](const Summary& s) { return Cell(s.jobs_kg_co2, decimal(s.jobs_kg_co2) + " kg"); }))
      .in(tier(&Summary::jobs_kg_co2));
}

/// All figures of a summary with the names of its files.
void add_file_columns(figure::Rows<Summary>& rows) {
  using experiment::SummaryField;
  for (const SummaryField& field : experiment::summary_fields()) {
    if (field.where == SummaryField::Where::json) continue;
    rows.add(Tier::data, field.name, [&](const Summary& s) {
      return std::visit([&](auto member) { return Cell(s.*member); }, field.member);
    });
  }
  rows.add(Tier::data, "bound", &Summary::bound);
  rows.add(Tier::data, "complete", &Summary::complete);
  rows.add(Tier::data, "recorded", &Summary::recorded);
  rows.add(Tier::wide, "signature", [](const Summary& s) {
    return s.recorded ? Cell() : Cell(fmt::format("{:016x}", s.signature));
  });
}

/// "fifo: guests lent 91 GPU-hours to speech": a line for each run in which tenants lent; ""
/// without any.
std::string loan_lines(const std::vector<Summary>& summaries) {
  std::string lines;
  for (const Summary& summary : summaries) {
    const std::string said = loans_in_words(summary.loans);
    if (!said.empty()) lines += fmt::format("{}: {}\n", experiment::marked_name(summary), said);
  }
  return lines;
}

/// "35 of 1,500 jobs did not finish under kueue ...": a line for each policy under which jobs that
/// could start never end, or which ends them early.
std::string unfinished_lines(const std::vector<Summary>& summaries) {
  std::string lines;
  for (const Summary& each : summaries) {
    if (!is_whole(each) || each.never_ended <= each.never_startable) continue;
    lines += fmt::format("{} of {} did not finish under {} and count in no average.\n",
                         count(each.never_ended - each.never_startable),
                         text::counted(each.never_ended + each.finished, "job"),
                         experiment::marked_name(each));
  }
  return lines;
}

/// Returns which jobs the rows cover, if a log has outcomes or the rows differ; otherwise "".
std::string population_line(const std::vector<Summary>& summaries) {
  std::uint64_t withdrawn = 0;
  bool any_recorded = false;
  bool alike = true;
  std::set<std::uint64_t> policies;  // their numbers of jobs
  for (const Summary& each : summaries) {
    withdrawn = std::max(withdrawn, each.withdrawn_jobs);
    any_recorded = any_recorded || each.recorded;
    alike = alike && each.finished == summaries.front().finished;
    if (is_whole(each)) policies.insert(each.finished);
  }
  if (!any_recorded && withdrawn == 0 && alike) return "";
  std::string made;
  if (alike) {
    made = fmt::format("Every row averages over the same {}",
                       text::counted(summaries.front().finished, "job"));
  } else {
    std::vector<std::string> rows;
    for (const Summary& each : summaries) {
      rows.push_back(fmt::format("{} {}", experiment::marked_name(each),
                                 grouped(static_cast<std::int64_t>(each.finished))));
    }
    made = fmt::format("Rows average over different numbers of jobs{}: {}",
                       policies.size() > 1 ? ", and only rows of equal numbers have a ratio" : "",
                       fmt::join(rows, ", "));
  }
  if (withdrawn > 0) {
    made += fmt::format("; {} that never ran in the log {} in no row",
                        text::counted(withdrawn, "job"), withdrawn == 1 ? "is" : "are");
  }
  return made + ".\n";
}

}  // namespace

std::string loans_in_words(const std::vector<experiment::TenantLoan>& loans) {
  constexpr std::size_t kMostLoans = 4;
  constexpr double kGpuHour_s = 3600;
  std::vector<std::string> said;
  for (const experiment::TenantLoan& loan : loans) {
    if (said.size() == kMostLoans || loan.gpu_s < kGpuHour_s / 2) break;
    said.push_back(fmt::format("{} lent {} GPU-hours to {}", loan.from,
                               grouped(std::llround(loan.gpu_s / kGpuHour_s)), loan.to));
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

std::string fairness_in_words(const Summary& summary) {
  if (summary.worst_owner.empty()) return "";
  std::string said = fmt::format("share error {}, Jain {}, worst off {}: {} of its fair share",
                                 percent(summary.share_error), decimal(summary.jain_fair_share),
                                 summary.worst_owner, percent(summary.worst_fair_share));
  if (std::isfinite(summary.avg_finish_time_ratio)) {
    said += fmt::format(", finish-time ratio {}", decimal(summary.avg_finish_time_ratio));
  }
  const std::string loans = loans_in_words(summary.loans);
  return loans.empty() ? said : said + "; " + loans;
}

figure::Listing comparison_rows(const std::vector<Summary>& summaries) {
  Table table(summaries);
  figure::Rows<Summary>& rows = table.rows();
  rows.add("policy", [](const Summary& s) { return Cell(s.policy, experiment::marked_name(s)); });
  if (summaries.empty()) return std::move(rows);
  add_deadlines(table);
  table.time("avg_jct_s", "avg JCT", &Summary::avg_jct_s).key();
  table.time("p50_jct_s", "p50 JCT", &Summary::p50_jct_s).wide();
  table.time("p90_jct_s", "p90 JCT", &Summary::p90_jct_s).wide();
  table.time("p99_jct_s", "p99 JCT", &Summary::p99_jct_s);
  table.time("avg_wait_s", "avg wait", &Summary::avg_wait_s).key();
  add_gain(table);
  table.time("p50_wait_s", "p50 wait", &Summary::p50_wait_s).detail();
  table.time("p90_wait_s", "p90 wait", &Summary::p90_wait_s).detail();
  table.time("p99_wait_s", "p99 wait", &Summary::p99_wait_s);
  table.less(table.count("queued_jobs", "jobs that waited", &Summary::queued_jobs)).detail();
  table.less(table.number("avg_bounded_slowdown", "slowdown", &Summary::avg_bounded_slowdown));
  table.time("worst_user_avg_wait_s", "worst user's wait", &Summary::worst_user_avg_wait_s)
      .detail();
  table.time("worst_vc_avg_wait_s", "worst VC's wait", &Summary::worst_vc_avg_wait_s).wide();
  table.more(table.number("jain_user_slowdown", "fairness", &Summary::jain_user_slowdown)).wide();
  table.time("makespan_s", "makespan", &Summary::makespan_s).wide();
  add_dues(table);
  table.share("gpu_allocation", "GPU allocation", &Summary::gpu_allocation);
  add_resources(table);
  table.count("preemptions", "preemptions", &Summary::preemptions);
  add_energy(table);
  add_bills(table);
  table.count("finished", "finished", &Summary::finished).wide();
  table
      .add(
          "jobs_per_s", "jobs/s",
          [](const Summary& s) {
            return static_cast<std::uint64_t>(
                s.engine_wall_s > 0 ? static_cast<double>(s.jobs) / s.engine_wall_s : 0);
          },
          report::count)
      .wide();
  add_file_columns(rows);
  return std::move(rows);
}

figure::Listing comparison_columns() {
  Summary with_all;
  with_all.guarantee = with_all.share_error = 0;
  with_all.gpu_utilization = with_all.cpu_allocation = 0;
  with_all.cpu_jobs = 1;
  figure::Listing columns = comparison_rows({with_all});
  columns.cut(0);
  return columns;
}

std::string comparison_notes(const std::vector<Summary>& summaries) {
  if (summaries.empty()) return "";
  std::string table;
  table += population_line(summaries);
  table += unfinished_lines(summaries);
  table += loan_lines(summaries);
  for (const Summary& each : summaries) {
    if (each.failures.empty()) continue;
    table +=
        fmt::format("{}: {}", experiment::marked_name(each), experiment::in_words(each.failures));
  }
  const bool any_bound = std::any_of(summaries.begin(), summaries.end(),
                                     [](const Summary& summary) { return summary.bound; });
  if (any_bound) table += std::string(kWhatAnOracleIs) + "\n";
  const bool any_lossless =
      std::any_of(summaries.begin(), summaries.end(),
                  [](const Summary& summary) { return summary.lossless_preemptions > 0; });
  if (any_lossless) table += std::string(kWhatAStopCosts) + "\n";
  const bool all_whole = std::all_of(summaries.begin(), summaries.end(),
                                     [](const Summary& summary) { return summary.complete; });
  if (!all_whole) table += std::string(kWhatInterruptedIs) + "\n";
  if (const auto said = how_well_reproduced(summaries)) {
    table += said->headline + "\n";
    if (!said->advice.empty()) table += said->advice + "\n";
  }
  return table;
}

std::optional<figure::Finding> how_well_reproduced(const std::vector<Summary>& summaries) {
  const auto recorded = std::find_if(summaries.begin(), summaries.end(),
                                     [](const Summary& each) { return each.recorded; });
  if (recorded == summaries.end()) return {};
  // Nearly every job of many logs starts at once, under any policy, so the number of jobs that
  // start as recorded says little about those that wait.
  const auto difference = [&](const Summary& each) {
    return std::abs(std::log((each.avg_wait_s + 1) / (recorded->avg_wait_s + 1)));
  };
  const Summary* closest = nullptr;
  for (const Summary& each : summaries) {
    // A log tells one run of each job.
    if (!is_deployable(each) || !std::isfinite(each.as_recorded) || each.preemptions > 0) continue;
    if (closest == nullptr || difference(each) < difference(*closest)) closest = &each;
  }
  if (closest == nullptr) return {};
  figure::Finding finding{.figure = "run_comparison"};
  finding.headline = fmt::format(
      "Closest match to your log: {}. {} of the jobs start within {} of their recorded start; the "
      "average wait is {}, recorded {} ({} that ran).",
      closest->policy, text::human_share(closest->as_recorded),
      human_time(seconds(experiment::kSameStart)), human_time(closest->avg_wait_s),
      human_time(recorded->avg_wait_s), text::counted(recorded->finished, "job"));
  constexpr double kMostStart = 0.8;
  constexpr double kLikeRecorded = 1.5;
  constexpr double kNoWait_s = 60;  // shorter waits are alike, whatever their ratio
  const double ratio =
      std::max(closest->avg_wait_s, kNoWait_s) / std::max(recorded->avg_wait_s, kNoWait_s);
  const bool like = ratio < kLikeRecorded && ratio > 1 / kLikeRecorded;
  if (closest->as_recorded < kMostStart || !like) {
    finding.advice = fmt::format(
        "No simulation reproduces {}. Limits, priorities, reservations, outages or nodes that the "
        "log does not show may explain the difference. Compare policies with each other, not with "
        "the recorded waits.",
        closest->as_recorded < kMostStart ? "the log" : "the average wait of the log");
  }
  return finding;
}

std::string scale_of(const std::vector<double>& values) {
  constexpr double kSpread = 12;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low > 0 && high > kSpread * low ? "log" : "linear";
}

}  // namespace almanac::report
