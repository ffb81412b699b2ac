// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long GPU jobs run in Philly, as the Helios study converts its log.
///
/// Source   Hu et al., SC'21, Figure 1(a): jobs submitted from 1 October 2017 on, from the first
///          start to the last end.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"
#include "text/datetime.h"

namespace almanac::reproduce {

void register_helios_fig1(Recipes& registry);

namespace helios_fig1_recipe {
namespace {

void compare(Bench& bench, const StudiedLog& log, const Json& published) {
  const Json& fig1a = member(published, "fig1a");
  const double all = fig1a.at(log.cluster + "_N");
  const Json& counts = fig1a.at(log.cluster + "_count");
  const figure::Figure ours = log.drawn("helios_fig1a");
  for (std::size_t at = 0; at < std::min(ours.rows(), counts.size()); ++at) {
    bench.add(fmt::format("Figure 1(a), {} ({}): GPU jobs of {} s or less", log.cluster,
                          log.file.name, fig1a.at("t").at(at).get<double>()),
              100 * counts[at].get<double>() / all, 100 * ours["fraction"].numbers[at], "%");
  }
}

}  // namespace
}  // namespace helios_fig1_recipe

void register_helios_fig1(Recipes& registry) {
  using namespace helios_fig1_recipe;
  registry.add({.name = "helios-fig1",
                .summary = "How long Philly's GPU jobs run, as the Helios study counts",
                .paper = "Hu et al., SC'21, Figure 1(a)",
                .kind = Kind::figure,
                .needs = {published_figures(), philly_logs()},
                .make = [](Bench& bench) {
                  const Json published = read_published_figures(bench);
                  if (published.empty()) return;
                  each_log(bench, philly_logs(), {.from = *text::parse_datetime("2017-10-01")},
                           "the figure is of 103,467 jobs of 2017-10-01 to 2017-12-22",
                           [&](const StudiedLog& log) { compare(bench, log, published); });
                }});
}

}  // namespace almanac::reproduce
