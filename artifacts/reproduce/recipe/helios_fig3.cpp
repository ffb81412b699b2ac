// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many jobs of one GPU and of several are submitted in each month.
///
/// Source   Hu et al., SC'21, Figure 3, above; April to September 2020.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"

namespace almanac::reproduce {

void register_helios_fig3(Recipes& registry);

namespace helios_fig3_recipe {
namespace {

constexpr std::string_view kMonths[] = {"2020-04", "2020-05", "2020-06",
                                        "2020-07", "2020-08", "2020-09"};

/// Months of which the log has nothing are left out.
void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  const Json& single = member(published, "fig3_jobs_single").at(log.cluster);
  const Json& multi = member(published, "fig3_jobs_multi").at(log.cluster);
  const figure::Figure ours = log.drawn("helios_fig3");
  for (std::size_t row = 0; row < ours.rows(); ++row) {
    const std::string& month = ours["month"].texts[row];
    const auto at = static_cast<std::size_t>(
        std::find(std::begin(kMonths), std::end(kMonths), month) - std::begin(kMonths));
    if (at >= std::min(single.size(), multi.size())) continue;
    const std::string what =
        fmt::format("Figure 3, {} ({}) {}: ", log.cluster, log.file.name, month);
    bench.add(what + "jobs of one GPU", single[at], ours["single_gpu_jobs"].numbers[row], "jobs");
    bench.add(what + "jobs of several", multi[at], ours["multi_gpu_jobs"].numbers[row], "jobs");
  }
}

}  // namespace
}  // namespace helios_fig3_recipe

void register_helios_fig3(Recipes& registry) {
  using namespace helios_fig3_recipe;
  registry.add({.name = "helios-fig3",
                .summary = "Jobs of one GPU and of several in each month",
                .paper = "Hu et al., SC'21, Figure 3",
                .kind = Kind::figure,
                .needs = {published_figures(), helios_logs()},
                .make = [](Bench& bench) { compare_helios_logs(bench, compare); }});
}

}  // namespace almanac::reproduce
