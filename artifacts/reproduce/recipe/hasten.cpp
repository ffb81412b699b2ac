// SPDX-License-Identifier: Apache-2.0

/// \file
/// Our own elastic policy in Pollux' simulator, beside what is published of Pollux: to be below it.
///
/// Source   Qiao et al., OSDI'21, section 5.3, for what it is compared with.
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_hasten(Recipes& registry);

namespace hasten_recipe {
namespace {

constexpr const char* kName = "hasten, beside pollux,";

void compare(Bench& bench) {
  const TickWorkloads data = read_tick_workloads(bench);
  const auto published = read_published(bench, "pollux").runs;
  const auto played =
      play_ticks(data, all_runs(data), [](const TickRun&) { return elastic::make_hasten(); });
  add_means(bench, kName, published, played);
  add_percentiles(bench, kName, published, played);
}

}  // namespace
}  // namespace hasten_recipe

void register_hasten(Recipes& registry) {
  using namespace hasten_recipe;
  registry.add({.name = "hasten",
                .summary = "our own elastic policy beside Pollux, in its simulator",
                .paper = "Qiao et al., OSDI'21, section 5.3",
                .kind = Kind::rerun,
                .needs = tick_needs(),
                .make = compare});
}

}  // namespace almanac::reproduce
