// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {
namespace {

using sim::Summary;
using text::grouped;
using text::human_time;

constexpr double kJoulesPerMwh = 3.6e9;

/// A column: how a row's value shows, and whether less or more of it is better.
struct Column {
  std::string title;
  std::function<std::string(const Summary&)> text;
  std::function<double(const Summary&)> value{};  // null = nothing to be best in
  bool less_is_better = true;
};

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-";
}

std::string decimal(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "-";
}

Column time_column(std::string title, double Summary::*field) {
  return {std::move(title), [field](const Summary& s) { return human_time(s.*field); },
          [field](const Summary& s) { return s.*field; }};
}

/// Whether it may be called best: a cluster can run it, and the simulation came to its end.
bool is_choice(const Summary& summary) {
  return !summary.bound && summary.complete && !summary.recorded;
}

/// Whether others may be compared with it: a simulation of all jobs.
bool is_whole(const Summary& summary) { return summary.complete && !summary.recorded; }

/// Whether any run has the figure: speeds, cores or CPU jobs may not be simulated.
bool any_has(const std::vector<Summary>& summaries, double Summary::*field) {
  return std::any_of(summaries.begin(), summaries.end(),
                     [field](const Summary& s) { return std::isfinite(s.*field); });
}

/// What is used beside occupancy, and how GPU jobs and CPU jobs fare apart.
void add_resources(std::vector<Column>& columns, const std::vector<Summary>& summaries) {
  if (any_has(summaries, &Summary::gpu_utilization)) {
    columns.push_back({"GPUs compute", [](const Summary& s) { return percent(s.gpu_utilization); },
                       [](const Summary& s) { return s.gpu_utilization; }, false});
  }
  if (any_has(summaries, &Summary::cpu_allocation)) {
    columns.push_back({"cores taken", [](const Summary& s) { return percent(s.cpu_allocation); }});
  }
  const bool any_cpu_job = std::any_of(summaries.begin(), summaries.end(),
                                       [](const Summary& s) { return s.cpu_jobs > 0; });
  if (!any_cpu_job) return;
  columns.push_back(time_column("GPU jobs' JCT", &Summary::avg_gpu_job_jct_s));
  columns.push_back(time_column("CPU jobs' wait", &Summary::avg_cpu_job_wait_s));
  columns.push_back(time_column("CPU jobs' p99", &Summary::p99_cpu_job_wait_s));
}

/// Whether deadlines were met; nothing where no job has a deadline.
void add_deadlines(std::vector<Column>& columns, const std::vector<Summary>& summaries) {
  if (!any_has(summaries, &Summary::guarantee)) return;
  columns.push_back({"in time", [](const Summary& s) { return percent(s.guarantee); },
                     [](const Summary& s) { return s.guarantee; }, false});
  columns.push_back(time_column("avg late", &Summary::avg_tardiness_s));
  columns.push_back(time_column("p99 late", &Summary::p99_tardiness_s));
  const auto share = [](const Summary& s) { return s.value_earned / s.value_possible; };
  columns.push_back(
      {"value", [share](const Summary& s) { return percent(share(s)); }, share, false});
}

/// Who had how much of its due; nothing where there are not two owners. Users are told in a wide
/// table only.
void add_dues(std::vector<Column>& columns, const std::vector<Summary>& summaries, bool wide) {
  if (!any_has(summaries, &Summary::share_error)) return;
  const bool by_tenant = std::any_of(summaries.begin(), summaries.end(), [](const Summary& s) {
    return s.worst_owner.starts_with("tenant ");
  });
  if (!by_tenant && !wide) return;
  columns.push_back({"share error", [](const Summary& s) { return percent(s.share_error); },
                     [](const Summary& s) { return s.share_error; }});
  columns.push_back({"Jain", [](const Summary& s) { return decimal(s.jain_due); },
                     [](const Summary& s) { return s.jain_due; }, false});
  columns.push_back({"worst off",
                     [](const Summary& s) {
                       if (s.worst_owner.empty()) return std::string("-");
                       return fmt::format("{}: {} of its due", s.worst_owner, percent(s.worst_due));
                     },
                     [](const Summary& s) { return s.worst_due; }, false});
  columns.push_back({"finish-time ratio",
                     [](const Summary& s) { return decimal(s.avg_finish_time_ratio); },
                     [](const Summary& s) { return s.avg_finish_time_ratio; }});
}

std::vector<Column> columns_of(const std::vector<Summary>& summaries, bool wide) {
  std::vector<Column> columns;
  const Summary& first = *std::find_if(summaries.begin(), summaries.end() - 1, is_whole);
  const double reference = is_whole(first) ? first.avg_wait_s : std::nan("");
  columns.push_back({"policy", sim::marked_name});
  add_deadlines(columns, summaries);
  columns.push_back(time_column("avg JCT", &Summary::avg_jct_s));
  if (wide) {
    columns.push_back(time_column("p50 JCT", &Summary::p50_jct_s));
    columns.push_back(time_column("p90 JCT", &Summary::p90_jct_s));
  }
  columns.push_back(time_column("p99 JCT", &Summary::p99_jct_s));
  columns.push_back(time_column("avg wait", &Summary::avg_wait_s));
  columns.push_back({"vs " + first.policy, [reference](const Summary& s) {
                       if (!is_whole(s) || !(s.avg_wait_s > 0) || !(reference > 0)) {
                         return std::string("-");
                       }
                       return fmt::format("{:.2f}x", reference / s.avg_wait_s);
                     }});
  columns.push_back(time_column("p50 wait", &Summary::p50_wait_s));
  columns.push_back(time_column("p90 wait", &Summary::p90_wait_s));
  columns.push_back(time_column("p99 wait", &Summary::p99_wait_s));
  columns.push_back(
      {"jobs that waited",
       [](const Summary& s) { return grouped(static_cast<std::int64_t>(s.queued_jobs)); },
       [](const Summary& s) { return static_cast<double>(s.queued_jobs); }});
  columns.push_back({"slowdown", [](const Summary& s) { return decimal(s.avg_bounded_slowdown); },
                     [](const Summary& s) { return s.avg_bounded_slowdown; }});
  columns.push_back(time_column("worst user's wait", &Summary::worst_user_avg_wait_s));
  if (wide) {
    columns.push_back(time_column("worst VC's wait", &Summary::worst_vc_avg_wait_s));
    columns.push_back({"fairness", [](const Summary& s) { return decimal(s.jain_user_slowdown); },
                       [](const Summary& s) { return s.jain_user_slowdown; }, false});
    columns.push_back(time_column("makespan", &Summary::makespan_s));
  }
  add_dues(columns, summaries, wide);
  columns.push_back({"GPUs taken", [](const Summary& s) { return percent(s.gpu_allocation); }});
  add_resources(columns, summaries);
  columns.push_back({"preemptions", [](const Summary& s) {
                       return grouped(static_cast<std::int64_t>(s.preemptions));
                     }});
  const bool any_asleep = std::any_of(summaries.begin(), summaries.end(),
                                      [](const Summary& s) { return s.nodes_asleep > 0; });
  if (wide || any_asleep) {
    columns.push_back({"nodes asleep", [](const Summary& s) { return decimal(s.nodes_asleep); }});
    columns.push_back(
        {"wake-ups a day", [](const Summary& s) { return decimal(s.wake_ups_a_day); }});
    columns.push_back(
        {"jobs held back",
         [](const Summary& s) { return grouped(static_cast<std::int64_t>(s.jobs_held_back)); },
         [](const Summary& s) { return static_cast<double>(s.jobs_held_back); }});
    columns.push_back({"MWh", [](const Summary& s) { return decimal(s.energy_j / kJoulesPerMwh); },
                       [](const Summary& s) { return s.energy_j; }});
  }
  if (wide) {
    columns.push_back({"finished", [](const Summary& s) {
                         return grouped(static_cast<std::int64_t>(s.finished));
                       }});
    columns.push_back(
        {"jobs/s", [](const Summary& s) {
           return grouped(static_cast<std::int64_t>(
               s.engine_wall_s > 0 ? static_cast<double>(s.jobs) / s.engine_wall_s : 0));
         }});
    columns.push_back(
        {"signature", [](const Summary& s) { return fmt::format("{:016x}", s.signature); }});
  }
  return columns;
}

/// "fifo: guests lent 91 GPU-hours to speech": a line for each run in which tenants lent; ""
/// without any.
std::string loan_lines(const std::vector<Summary>& summaries) {
  std::string lines;
  for (const Summary& summary : summaries) {
    const std::string said = loans_in_words(summary.loans);
    if (!said.empty()) lines += fmt::format("{}: {}\n", sim::marked_name(summary), said);
  }
  return lines;
}

/// Of which jobs the rows are, where a log says what happened or some jobs never ran: "" elsewhere.
std::string population_line(const std::vector<Summary>& summaries) {
  std::uint64_t withdrawn = 0;
  bool any_recorded = false;
  bool alike = true;
  for (const Summary& each : summaries) {
    withdrawn = std::max(withdrawn, each.withdrawn_jobs);
    any_recorded = any_recorded || each.recorded;
    alike = alike && each.finished == summaries.front().finished;
  }
  if (!any_recorded && withdrawn == 0) return "";
  std::string made;
  if (alike) {
    made = fmt::format("Every row averages over the same {}",
                       text::counted(summaries.front().finished, "job"));
  } else {
    std::vector<std::string> rows;
    for (const Summary& each : summaries) {
      rows.push_back(fmt::format("{} {}", sim::marked_name(each),
                                 grouped(static_cast<std::int64_t>(each.finished))));
    }
    made = fmt::format("Rows average over different numbers of jobs: {}", fmt::join(rows, ", "));
  }
  if (withdrawn > 0) {
    made += fmt::format("; {} withdrawn before they ran are in no row",
                        text::counted(withdrawn, "job"));
  }
  return made + ".\n";
}

/// The best value of a column among what can be chosen, or NaN when there is nothing to choose.
double best_of(const Column& column, const std::vector<Summary>& summaries) {
  if (!column.value || summaries.size() < 2) return std::nan("");
  double best = std::nan("");
  for (const Summary& summary : summaries) {
    if (!is_choice(summary)) continue;
    const double value = column.value(summary);
    if (std::isnan(best) || (column.less_is_better ? value < best : value > best)) best = value;
  }
  return best;
}

}  // namespace

std::string loans_in_words(const std::vector<sim::TenantLoan>& loans) {
  constexpr std::size_t kMostLoans = 4;
  constexpr double kGpuHour_s = 3600;
  std::vector<std::string> said;
  for (const sim::TenantLoan& loan : loans) {
    if (said.size() == kMostLoans || loan.gpu_s < kGpuHour_s / 2) break;
    said.push_back(fmt::format("{} lent {} GPU-hours to {}", loan.from,
                               grouped(std::llround(loan.gpu_s / kGpuHour_s)), loan.to));
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

std::string fairness_in_words(const Summary& summary) {
  if (summary.worst_owner.empty()) return "";
  std::string said = fmt::format("share error {}, Jain {}, worst off {}: {} of its due",
                                 percent(summary.share_error), decimal(summary.jain_due),
                                 summary.worst_owner, percent(summary.worst_due));
  if (std::isfinite(summary.avg_finish_time_ratio)) {
    said += fmt::format(", finish-time ratio {}", decimal(summary.avg_finish_time_ratio));
  }
  const std::string loans = loans_in_words(summary.loans);
  return loans.empty() ? said : said + "; " + loans;
}

std::string comparison_table(const std::vector<Summary>& summaries,
                             const ComparisonOptions& options) {
  if (summaries.empty()) return "";
  const std::vector<Column> columns = columns_of(summaries, options.wide);
  std::vector<std::vector<std::string>> rows(summaries.size() + 1);
  for (const Column& column : columns) {
    rows[0].push_back(column.title);
    for (std::size_t row = 0; row < summaries.size(); ++row) {
      rows[row + 1].push_back(column.text(summaries[row]));
    }
  }
  std::string table;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t at = 0; at < columns.size(); ++at) {
      std::size_t width = 0;
      for (const auto& each : rows) width = std::max(width, each[at].size());
      const std::string& text = rows[row][at];
      const std::string padding(width - text.size(), ' ');
      const bool best = options.colour && row > 0 && columns[at].value &&
                        is_choice(summaries[row - 1]) &&
                        columns[at].value(summaries[row - 1]) == best_of(columns[at], summaries);
      const std::string shown = best ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
      if (at > 0) table += "  ";
      table += at == 0 ? shown + padding : padding + shown;
    }
    table.erase(table.find_last_not_of(' ') + 1);
    table += '\n';
  }
  table += population_line(summaries);
  table += loan_lines(summaries);
  const bool any_bound = std::any_of(summaries.begin(), summaries.end(),
                                     [](const Summary& summary) { return summary.bound; });
  if (any_bound) table += std::string(kWhatABoundIs) + "\n";
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
  const Summary* closest = nullptr;
  for (const Summary& each : summaries) {
    if (!is_choice(each) || !std::isfinite(each.as_recorded)) continue;
    if (closest == nullptr || each.as_recorded > closest->as_recorded) closest = &each;
  }
  if (closest == nullptr) return {};
  figure::Finding finding{.figure = "run_comparison"};
  finding.headline = fmt::format(
      "Closest match to your log: {}. {} of the jobs start within {} of their recorded start; the "
      "average wait is {}, recorded {} ({} that ran).",
      closest->policy, text::human_share(closest->as_recorded),
      human_time(seconds(sim::kSameStart)), human_time(closest->avg_wait_s),
      human_time(recorded->avg_wait_s), text::counted(recorded->finished, "job"));
  constexpr double kMostStart = 0.8;
  constexpr double kLikeRecorded = 1.5;
  constexpr double kNoWait_s = 60;  // shorter waits are alike, whatever their ratio
  const double ratio =
      std::max(closest->avg_wait_s, kNoWait_s) / std::max(recorded->avg_wait_s, kNoWait_s);
  const bool like = ratio < kLikeRecorded && ratio > 1 / kLikeRecorded;
  if (closest->as_recorded < kMostStart || !like) {
    finding.advice =
        "None of these simulations reproduces the log: limits, priorities, reservations, outages "
        "or "
        "other nodes that it does not show were at work. Compare policies with each other, not "
        "with "
        "what was recorded.";
  }
  return finding;
}

std::string comparison_csv(const std::vector<Summary>& summaries) {
  std::string csv = sim::summary_csv_header() + "\n";
  for (const Summary& summary : summaries) csv += sim::to_csv_row(summary) + "\n";
  return csv;
}

}  // namespace almanac::report
