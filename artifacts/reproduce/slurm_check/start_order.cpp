// SPDX-License-Identifier: Apache-2.0

/// \file
/// starts.csv: which jobs start in which order, where, when and by which scheduler, if the scenario
/// is played from its submissions.
#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_starts.h"

namespace almanac::reproduce {

void register_start_order(SlurmChecks& checks);

namespace start_order_check {
namespace {

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto played = play_slurm_scenario(folder_of(scenario), scenario.site);
  if (!played) throw Malformed{played.error()};
  played->order.add_to(bench, scenario, "start order, played");
  played->times.add_to(bench, scenario, "starts within a backfill interval, played");
  played->nodes.add_to(bench, scenario, "node lists, played");
  played->starters.add_to(bench, scenario, "main scheduler or backfill, played");
}

}  // namespace
}  // namespace start_order_check

void register_start_order(SlurmChecks& checks) { checks.add(start_order_check::check); }

}  // namespace almanac::reproduce
