// SPDX-License-Identifier: Apache-2.0

/// \file
/// usage_log.csv: what associations had used after each charge; decay_passes.csv: what decay left.
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_priorities.h"

namespace almanac::reproduce {

void register_usage_log(SlurmChecks& checks);

namespace usage_log_check {
namespace {

/// Charges this close are of one pass, or of jobs that ended together: the last one counts.
constexpr Duration kTogether = 100ms;
/// The log has the charge of an ending job a little before the end of the job.
constexpr Duration kEndFollows = 20ms;

struct Logged {
  Time at{};
  std::int32_t association = -1;
  double raw = 0;
  bool is_last = true;
};

void check_usage(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "usage_log.csv");
  if (!file) return;
  Rows rows(file->path, {"epoch", "account", "user", "partition", "raw_usage"});
  std::vector<Logged> logged;
  std::map<std::int32_t, std::size_t> last;
  while (rows.next()) {
    Logged row{.at = parse_epoch(rows.text("epoch")),
               .association = scenario.site.find_association(
                   rows.text("account"), rows.text("user"), rows.text("partition")),
               .raw = rows.number("raw_usage")};
    if (row.association < 0) continue;
    if (const auto before = last.find(row.association);
        before != last.end() && row.at - logged[before->second].at < kTogether) {
      logged[before->second].is_last = false;
    }
    last[row.association] = logged.size();
    logged.push_back(row);
  }
  PriorityReplay replay(bench, scenario);
  RowTally tally;
  for (const Logged& row : logged) {
    if (!row.is_last) continue;
    replay.advance(row.at + kEndFollows);
    const auto ours = static_cast<double>(
        replay.priorities().usage().of(static_cast<std::uint32_t>(row.association)).raw);
    tally.count(
        std::abs(ours - row.raw) <= 0.51e-6 + 1e-15 * row.raw,
        fmt::format("{} of {} at {:.3f}: {:.6f}, not {:.6f}",
                    scenario.site.associations[static_cast<std::size_t>(row.association)].user,
                    scenario.site.associations[static_cast<std::size_t>(row.association)].account,
                    seconds(row.at), ours, row.raw));
  }
  tally.add_to(bench, scenario, "usage after charges, log");
}

void check_decay(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "decay_passes.csv");
  if (!file) return;
  Rows rows(file->path, {"epoch", "seconds", "factor"});
  const slurmctld::UsageLedger usage(scenario.site);
  RowTally tally;
  while (rows.next()) {
    const double ours = usage.remaining(rows.whole("seconds"));
    tally.count(std::abs(ours - rows.number("factor")) <= 0.51e-15,
                fmt::format("{}: {:.15f}", rows.text("epoch"), ours));
  }
  tally.add_to(bench, scenario, "decay factors, log");
}

void check(Bench& bench, const SlurmScenario& scenario) {
  if (scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  check_usage(bench, scenario);
  check_decay(bench, scenario);
}

}  // namespace
}  // namespace usage_log_check

void register_usage_log(SlurmChecks& checks) { checks.add(usage_log_check::check); }

}  // namespace almanac::reproduce
