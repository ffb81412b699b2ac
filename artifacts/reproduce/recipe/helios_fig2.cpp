// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPU jobs are submitted in each hour of the day.
///
/// Source   Hu et al., SC'21, Figure 2(b).
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"

namespace almanac::reproduce {

void register_helios_fig2(Recipes& registry);

namespace helios_fig2_recipe {
namespace {

void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  const Json& hours = member(published, "fig2b_" + log.cluster);
  const figure::Figure ours = log.drawn("helios_fig2b");
  for (std::size_t hour = 0; hour < std::min(ours.rows(), hours.size()); ++hour) {
    bench.add(fmt::format("Figure 2(b), {} ({}): GPU jobs submitted in hour {}", log.cluster,
                          log.file.name, hour),
              hours[hour], ours["gpu_jobs"].numbers[hour], "jobs");
  }
}

}  // namespace
}  // namespace helios_fig2_recipe

void register_helios_fig2(Recipes& registry) {
  using namespace helios_fig2_recipe;
  registry.add({.name = "helios-fig2",
                .summary = "How many GPU jobs are submitted in each hour of an average day",
                .paper = "Hu et al., SC'21, Figure 2(b)",
                .kind = Kind::figure,
                .needs = {published_figures(), helios_logs()},
                .make = [](Bench& bench) { compare_helios_logs(bench, compare); }});
}

}  // namespace almanac::reproduce
