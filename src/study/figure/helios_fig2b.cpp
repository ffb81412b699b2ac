// SPDX-License-Identifier: Apache-2.0

/// \file
/// When GPU jobs are submitted.
///
/// Source   Hu et al., SC'21, Figure 2(b): GPU jobs submitted in each hour, mean over all days.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/minutes.h"

namespace almanac::study {

void register_helios_fig2b(Figures& registry);

namespace {

Drawing draw_helios_fig2b(const Study& study) {
  std::array<double, 24> count{};
  for (const std::uint32_t at : study.gpu_jobs()) {
    const auto since = study.job(at).request.submit.time_since_epoch();
    const auto hour = std::chrono::floor<std::chrono::hours>(since).count() % 24;
    ++count[static_cast<std::size_t>(hour)];
  }
  const double days = static_cast<double>(minutes_of(study).count) / (24 * 60);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = fmt::format(
      "GPU jobs submitted in each hour of the day (the clock of the log), mean over {:g} days.",
      days);
  auto& hour = figure.number("hour", "Hour of the day");
  auto& jobs = figure.number("gpu_jobs", "GPU jobs submitted in the hour", figure::Unit::jobs);
  for (std::size_t h = 0; h < 24; ++h) {
    hour.add(static_cast<double>(h));
    jobs.add(count[h] / days);
  }
  figure.charts.push_back({.kind = "line", .x = "hour", .y = {"gpu_jobs"}});
  const auto [low, high] = std::minmax_element(count.begin(), count.end());
  if (days < 2 || *high == 0) return drawing;
  drawing.findings.push_back(
      {.headline =
           *low > 0 ? fmt::format(
                          "{:.1f} times as many GPU jobs are submitted at {:02}:00 as at {:02}:00.",
                          *high / *low, high - count.begin(), low - count.begin())
                    : fmt::format("Most GPU jobs are submitted at {:02}:00, none at {:02}:00.",
                                  high - count.begin(), low - count.begin()),
       .detail = fmt::format("{:.1f} jobs in the busiest hour of an average day, {:.1f} in the "
                             "quietest, by the clock of the log.",
                             *high / days, *low / days),
       .figure = {},
       .advice =
           "What repeats daily can be predicted: plan maintenance and sleep for the quiet hours."});
  return drawing;
}

}  // namespace

void register_helios_fig2b(Figures& registry) {
  registry.add({.id = "helios_fig2b",
                .title = "Submissions over the day",
                .source = "Hu et al., SC'21, Figure 2(b), implication 1",
                .part = Part::cluster,
                .needs = {Need::gpu_jobs, Need::calendar},
                .draw = draw_helios_fig2b});
}

}  // namespace almanac::study
