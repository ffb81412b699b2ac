// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long GPU jobs run, next to the two published clusters.
///
/// Source   Hu et al., SC'21, Figure 1(a): counts at powers of two, read back from the figure.
#include <array>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "study/duration_cdf.h"
#include "study/figures.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig1a(Figures& registry);

namespace {

constexpr std::array kHeliosCounts{63176.,   77987.,   100362.,  121686.,  169455.,  255247.,
                                   393233.,  597589.,  894132.,  1068054., 1189238., 1329166.,
                                   1383438., 1434273., 1491390., 1521429., 1545216., 1563085.,
                                   1573347., 1578209., 1579877., 1580457.};
constexpr double kHeliosJobs = 1580464;
constexpr std::array kPhillyCounts{
    35.,    107.,   237.,   582.,   1753.,  4829.,  13752., 23927.,  28954.,  34679.,  45747.,
    59836., 74226., 82538., 89714., 93515., 96246., 98799., 100857., 102202., 103036., 103351.};
constexpr double kPhillyJobs = 103467;

Drawing draw_helios_fig1a(const Study& study) {
  Drawing drawing;
  drawing.figure =
      duration_cdf(study, study.gpu_jobs(),
                   {published_cdf("Helios, as published", kHeliosCounts, kHeliosJobs),
                    published_cdf("Philly, as published", kPhillyCounts, kPhillyJobs)});
  drawing.figure.caption =
      "Cumulative distribution of the durations of GPU jobs, from first start to last end, at "
      "powers of two.";
  const std::vector<double> durations = sorted_durations(study, study.gpu_jobs());
  double sum = 0;
  for (const double duration : durations) sum += duration;
  const double mean = sum / static_cast<double>(durations.size());
  const double median = stats::quantile_sorted(durations, 0.5);
  drawing.findings.push_back(
      {.headline = fmt::format("Half of the GPU jobs last at most {}; the mean is {}.",
                               text::human_time(median), text::human_time(mean)),
       .detail = "The longer the tail, the more the order of the queue matters.",
       .published = "Helios: median 3m 26s, mean 1h 50m. Philly: mean 7h 52m."});
  return drawing;
}

}  // namespace

void register_helios_fig1a(Figures& registry) {
  registry.add({.id = "helios_fig1a",
                .title = "Durations of GPU jobs compared",
                .source = "Hu et al., SC'21, Figure 1(a)",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw_helios_fig1a});
}

}  // namespace almanac::study
