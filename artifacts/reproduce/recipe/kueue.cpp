// SPDX-License-Identifier: Apache-2.0

/// \file
/// The real Kueue: what it admitted and preempted in recorded scenarios, and in which order
/// workloads wait.
#include <fmt/format.h>

#include "reproduce/kueue_scenario.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_kueue(Recipes& registry);

namespace kueue_recipe {
namespace {

constexpr const char* kScenarios = "golden/kueue/*.json";

void make(Bench& bench) {
  bench.each(kScenarios, [&](const File& file) {
    const Json recorded = read_json(file);
    // Exchanges with an API server lie beside them.
    if (!recorded.is_object() || !recorded.contains("scenarios")) return;
    for (const Json& scenario : recorded["scenarios"]) {
      const KueueRecords records = play_kueue_scenario(scenario);
      bench.add({.what = fmt::format("{}: {}", file.stem, scenario.at("name").get<std::string>()),
                 .published = static_cast<double>(records.recorded),
                 .ours = static_cast<double>(records.equal),
                 .unit = "records",
                 .remark = records.first_difference});
    }
  });
  bench.note(
      "A row counts the records of a scenario, and those that are equal: cycles (heads, admissions "
      "with flavors and counts, preemptions with reasons) and states after steps (who holds quota, "
      "the order of those that wait, who is set aside).");
}

}  // namespace
}  // namespace kueue_recipe

void register_kueue(Recipes& registry) {
  using namespace kueue_recipe;
  registry.add({.name = "kueue",
                .summary = "admissions, preemptions and queue orders of the real Kueue",
                .paper = "Kueue main at ff69552e79ad (after v0.19.2), recorded August 2026",
                .kind = Kind::rerun,
                .needs = {{kScenarios, "decided by Kueue's scheduler and queue packages"}},
                .make = make});
}

}  // namespace almanac::reproduce
