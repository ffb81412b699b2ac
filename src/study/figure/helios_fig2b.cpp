// SPDX-License-Identifier: Apache-2.0

/// \file
/// When GPU jobs are submitted.
///
/// Source   Hu et al., SC'21, Figure 2(b): GPU jobs submitted in each hour, mean over all days.
#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/minutes.h"
#include "study/rhythm.h"

namespace almanac::study {

void register_helios_fig2b(Figures& registry);

namespace {

Drawing draw_helios_fig2b(const Study& study) {
  const Minutes minutes = minutes_of(study);
  const std::int64_t first_hour = minutes.first / 60;
  std::vector<double> submitted(
      static_cast<std::size_t>((minutes.first + minutes.count - 1) / 60 - first_hour + 1));
  for (const std::uint32_t at : study.gpu_jobs()) {
    const auto since = study.job(at).request.submit.time_since_epoch();
    const auto each = std::chrono::floor<std::chrono::hours>(since).count() - first_hour;
    ++submitted[static_cast<std::size_t>(each)];
  }
  DailyRhythm rhythm;
  for (std::size_t each = 0; each < submitted.size(); ++each) {
    rhythm.add(60 * (first_hour + static_cast<std::int64_t>(each)), submitted[each], 60);
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = fmt::format(
      "GPU jobs submitted in each hour of the day, in the log's time zone. Mean over {:.1f} days.",
      static_cast<double>(minutes.count) / (24 * 60));
  auto& hour = figure.number("hour", "Hour of the day");
  auto& jobs = figure.number("gpu_jobs", "GPU jobs per hour", figure::Unit::jobs);
  for (std::size_t h = 0; h < DailyRhythm::kHours; ++h) {
    hour.add(static_cast<double>(h));
    jobs.add(rhythm.mean(h));
  }
  figure.charts.push_back({.kind = "line", .x = "hour", .y = {"gpu_jobs"}});
  if (!rhythm.repeats()) return drawing;
  const auto [low, high] = std::minmax_element(jobs.numbers.begin(), jobs.numbers.end());
  drawing.findings.push_back(
      {.headline =
           *low > 0 ? fmt::format(
                          "{:.1f} times as many GPU jobs are submitted at {:02}:00 as at {:02}:00.",
                          *high / *low, high - jobs.numbers.begin(), low - jobs.numbers.begin())
                    : fmt::format("Most GPU jobs are submitted at {:02}:00, none at {:02}:00.",
                                  high - jobs.numbers.begin(), low - jobs.numbers.begin()),
       .detail = fmt::format("Mean over all days: {:.1f} jobs in the busiest hour, {:.1f} in the "
                             "quietest.",
                             *high, *low),
       .figure = {},
       .advice = "Plan maintenance for the quiet hours."});
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
