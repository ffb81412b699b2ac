// SPDX-License-Identifier: Apache-2.0
#include "cli/demand_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "energy/job_log.h"
#include "energy/outage.h"
#include "energy/series.h"
#include "text/datetime.h"

namespace almanac::cli {
namespace {

/// Used and, unless `nodes` says it, total nodes of each step.
Result<energy::Series> read_nodes(const DemandOptions& options) {
  const auto jobs_given = energy::is_job_log(options.path);
  if (!jobs_given) return tl::unexpected(jobs_given.error());
  if (*jobs_given) {
    const auto jobs = energy::read_job_log(options.path);
    if (!jobs) return tl::unexpected(jobs.error());
    energy::Series series = energy::node_demand(*jobs, energy::kUsualStep);
    if (options.nodes == 0) {
      const auto ever = static_cast<double>(energy::node_count(*jobs));
      series.columns.emplace_back(series.size(), ever);
      series.notes.push_back(fmt::format(
          "assumes that the {} nodes that ran jobs are all nodes; use --nodes to give the number",
          ever));
    }
    return series;
  }
  energy::SeriesOptions reading;
  if (!options.start.empty()) {
    const auto start = parse_time_option("--start", options.start);
    if (!start) return tl::unexpected(start.error());
    reading.start = *start;
    reading.step = energy::kUsualStep;
  }
  std::vector<std::string> columns{options.column};
  if (options.nodes == 0) columns.push_back(options.total_column);
  return energy::read_series(options.path, columns, reading);
}

}  // namespace

void DemandOptions::add_to(CLI::App& command) {
  const InGroup group(command, Group::input);
  command
      .add_option("SERIES", path,
                  "CSV file with a time, nodes in use and total nodes; or jobs.csv of a run")
      ->required();
  command.add_option("--column", column, "Column with the nodes in use")->capture_default_str();
  command.add_option("--total", total_column, "Column with the total number of nodes")
      ->capture_default_str();
  command.add_option("--nodes", nodes, "Total number of nodes, instead of a column")
      ->check(whole_number(1, kLargestCount));
  command
      .add_option("--start", start,
                  "Time of the first row of a file without times (rows are 10 minutes apart)")
      ->type_name("DATE");
}

Result<energy::Demand> DemandOptions::load() const {
  const auto series = read_nodes(*this);
  if (!series) return tl::unexpected(series.error());
  for (const std::string& text : series->notes) note(path + ": " + text);
  energy::Demand demand{.start = series->start, .step = series->step};
  energy::OutageFilter filter(static_cast<std::size_t>(24h / series->step));
  double used = 0;
  double total = nodes;
  double most = 0;
  constexpr double kMost = std::numeric_limits<int>::max();
  for (std::size_t at = 0; at < series->size(); ++at) {
    const double now = series->columns[0][at];
    const double there = nodes == 0 ? series->columns[1][at] : nodes;
    if (now < 0 || there < 0 || now > kMost || there > kMost) {
      return fail(Code::invalid,
                  fmt::format("at {}: {:g} nodes in use of {:g} is impossible",
                              text::format_datetime(series->at(at)), now, there),
                  {.file = path}, "expected 0 <= nodes in use <= total");
    }
    if (!filter.is_outage(now)) used = now;
    if (!std::isnan(there)) total = there;
    most = std::max(most, total);
    demand.used.push_back(static_cast<int>(std::lround(std::min(used, total))));
    demand.total.push_back(static_cast<int>(std::lround(total)));
  }
  if (most <= 0) {
    return fail(Code::invalid, "the series has no nodes", {.file = path},
                "give the number with --nodes, or its column with --total");
  }
  return demand;
}

}  // namespace almanac::cli
