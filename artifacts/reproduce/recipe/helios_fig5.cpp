// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long GPU jobs run.
///
/// Source   Hu et al., SC'21, Figure 5(a).
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"

namespace almanac::reproduce {

void register_helios_fig5(Recipes& registry);

namespace helios_fig5_recipe {
namespace {

/// Whole jobs are counted in the figure; the log may be of a part of its time, so parts are
/// compared.
void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  const Json& fig5 = member(published, "fig5");
  const Json& counts = fig5.at("GPU_" + log.cluster);
  const double all = member(published, "fig6").at("jobs_" + log.cluster).back();
  const figure::Figure ours = log.drawn("helios_fig5a");
  for (std::size_t at = 0; at < std::min(ours.rows(), counts.size()); ++at) {
    bench.add(fmt::format("Figure 5(a), {} ({}): GPU jobs of {} s or less", log.cluster,
                          log.file.name, fig5.at("t").at(at).get<double>()),
              100 * counts[at].get<double>() / all, 100 * ours["fraction"].numbers[at], "%");
  }
}

}  // namespace
}  // namespace helios_fig5_recipe

void register_helios_fig5(Recipes& registry) {
  using namespace helios_fig5_recipe;
  registry.add({.name = "helios-fig5",
                .summary = "How long GPU jobs run",
                .paper = "Hu et al., SC'21, Figure 5(a)",
                .kind = Kind::figure,
                .needs = {published_figures(), helios_logs()},
                .make = [](Bench& bench) { compare_helios_logs(bench, compare); }});
}

}  // namespace almanac::reproduce
