// SPDX-License-Identifier: Apache-2.0

/// \file
/// A real Slurm: every priority, factor, usage and rank that it logged, computed again.
#include "reproduce/recipe.h"
#include "reproduce/slurm_check.h"

namespace almanac::reproduce {

void register_slurm(Recipes& registry);

namespace slurm_recipe {
namespace {

constexpr const char* kScenarios = "golden/slurm/*/scenario.json";

void make(Bench& bench) {
  bench.each(kScenarios, [&](const File& file) {
    const SlurmScenario scenario = read_slurm_scenario(bench, file);
    for (const SlurmCheck& check : slurm_checks().all()) check(bench, scenario);
  });
  bench.note(
      "A row counts the rows of a recorded table, and those that are equal: integers and texts "
      "exactly, numbers to the digits printed.");
  bench.note(
      "Facts come from the configuration, scenario.json, commands.csv and sacct.txt. Other tables "
      "tell only what seconds cannot: when a decay pass ran (decay_passes.csv), when a priority "
      "was "
      "computed (priority_log.csv, times only), the nodes that backfill found for an exclusive job "
      "(plans.csv), and when a scheduler built its queue and which of two events of a second came "
      "first (slurmctld.log).");
}

}  // namespace
}  // namespace slurm_recipe

void register_slurm(Recipes& registry) {
  using namespace slurm_recipe;
  registry.add(
      {.name = "slurm",
       .summary = "priorities, fair share and usage that a real Slurm logged, to the digit",
       .paper = "Slurm 22.05.8 (Debian 12), recorded November 2026",
       .kind = Kind::measured,
       .needs = {{kScenarios, "recorded from slurmctld, slurmdbd and slurmd"}},
       .make = make});
}

}  // namespace almanac::reproduce
