// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPUs jobs ask, by jobs and by the GPU time that they take.
///
/// Source   Hu et al., SC'21, Figure 6.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"

namespace almanac::reproduce {

void register_helios_fig6(Recipes& registry);

namespace helios_fig6_recipe {
namespace {

void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  const Json& fig6 = member(published, "fig6");
  const Json& jobs = fig6.at("jobs_" + log.cluster);
  const Json& time = fig6.at("gputime_pct_" + log.cluster);
  const double all = jobs.back();
  const figure::Figure of_jobs = log.drawn("helios_fig6a");
  const figure::Figure of_time = log.drawn("helios_fig6b");
  for (std::size_t at = 0;
       at < std::min({of_jobs.rows(), of_time.rows(), jobs.size(), time.size()}); ++at) {
    const std::string what = fmt::format("Figure 6, {} ({}), {} GPUs or fewer: ", log.cluster,
                                         log.file.name, of_jobs["gpus"].texts[at]);
    bench.add(what + "part of the jobs", 100 * jobs[at].get<double>() / all,
              100 * of_jobs["fraction"].numbers[at], "%");
    bench.add(what + "part of the GPU time", time[at], 100 * of_time["fraction"].numbers[at], "%");
  }
}

}  // namespace
}  // namespace helios_fig6_recipe

void register_helios_fig6(Recipes& registry) {
  using namespace helios_fig6_recipe;
  registry.add({.name = "helios-fig6",
                .summary = "How many GPUs jobs ask, by jobs and by GPU time",
                .paper = "Hu et al., SC'21, Figure 6",
                .kind = Kind::figure,
                .needs = {published_figures(), helios_logs()},
                .make = [](Bench& bench) { compare_helios_logs(bench, compare); }});
}

}  // namespace almanac::reproduce
