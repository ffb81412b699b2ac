// SPDX-License-Identifier: Apache-2.0

/// \file
/// slurmctld.log: the nodes of each start, and the starts that backfill planned.
#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_log.h"

namespace almanac::reproduce {

void register_node_choice(SlurmChecks& checks);

namespace node_choice_check {
namespace {

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto replayed = replay_slurm_log(folder_of(scenario), scenario.site);
  if (!replayed) throw Malformed{replayed.error()};
  replayed->node_lists.add_to(bench, scenario, "node lists of starts, log");
  replayed->cpus_per_node.add_to(bench, scenario, "CPUs per node of starts, scontrol");
  replayed->planned_starts.add_to(bench, scenario, "planned starts of backfill, log");
  replayed->planned_nodes.add_to(bench, scenario, "nodes of planned starts, log");
}

}  // namespace
}  // namespace node_choice_check

void register_node_choice(SlurmChecks& checks) { checks.add(node_choice_check::check); }

}  // namespace almanac::reproduce
