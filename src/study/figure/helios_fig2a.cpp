// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the cluster is over the day.
///
/// Source   Hu et al., SC'21, Figure 2(a): the mean over all days of the minutes of an hour; GPUs
/// in
///          use never count as more than there are.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/minutes.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig2a(Figures& registry);

namespace {

Drawing draw_helios_fig2a(const Study& study) {
  const Minutes minutes = minutes_of(study);
  const auto running = gpus_in_use(study, minutes, study.gpu_jobs());
  const auto there = gpus_there(study.cluster(), minutes, kNoVc);
  std::array<double, 24> sum{};
  std::array<std::int64_t, 24> count{};
  for (std::size_t minute = 0; minute < running.size(); ++minute) {
    const double use = use_of(std::min(running[minute], there[minute]), there[minute]);
    if (std::isnan(use)) continue;
    const std::size_t hour = minute / 60 % 24;  // the grid begins at midnight
    sum[hour] += use;
    ++count[hour];
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption =
      "GPUs in use of those there, by hour of the day (the clock of the log), mean over all days.";
  auto& hour = figure.number("hour", "Hour of the day");
  auto& use = figure.number("utilization", "GPUs in use", figure::Unit::fraction);
  for (std::size_t h = 0; h < 24; ++h) {
    hour.add(static_cast<double>(h));
    use.add(sum[h] / static_cast<double>(count[h]));
  }
  figure.charts.push_back({.kind = "line", .x = "hour", .y = {"utilization"}});
  const auto [low, high] = std::minmax_element(use.numbers.begin(), use.numbers.end());
  double mean = 0;
  for (const double value : use.numbers) mean += value / 24;
  if (std::isnan(mean)) return drawing;
  drawing.findings.push_back(
      {.headline =
           fmt::format("On average {} of the GPUs are in use: {} at {:02}:00, {} at {:02}:00.",
                       text::human_share(mean), text::human_share(*low), low - use.numbers.begin(),
                       text::human_share(*high), high - use.numbers.begin()),
       .detail =
           fmt::format("The other {} stand idle and powered. Helios' clusters ran at 65 to 90 % "
                       "and fell by 5 to 8 points at night.",
                       text::human_share(1 - mean)),
       .figure = {},
       .advice = "A daily rhythm can be forecast: put idle nodes to sleep and wake them in time."});
  return drawing;
}

}  // namespace

void register_helios_fig2a(Figures& registry) {
  registry.add({.id = "helios_fig2a",
                .title = "Utilisation over the day",
                .source = "Hu et al., SC'21, Figure 2(a), implication 1",
                .part = Part::cluster,
                .needs = {Need::gpu_jobs, Need::start, Need::calendar},
                .draw = draw_helios_fig2a});
}

}  // namespace almanac::study
