// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the cluster is at each hour of the day.
///
/// Source   Hu et al., SC'21, Figure 2(a): the mean over all days of the minutes of an hour. GPUs
///          in use never count as more than the cluster has.
/// Differs  Only the time that the log covers counts (study/minutes.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/minutes.h"
#include "study/rhythm.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig2a(Figures& registry);

namespace {

/// "0.4", "26.4", "1,064".
std::string count_of(double gpus) {
  constexpr double kFew = 100;
  const double tenths = std::round(gpus * 10) / 10;
  return gpus < kFew ? fmt::format("{}", tenths) : text::grouped(std::llround(gpus));
}

Drawing draw_helios_fig2a(const Study& study) {
  const Minutes minutes = minutes_of(study);
  const auto running = gpus_in_use(study, minutes, study.gpu_jobs());
  const auto there = gpus_there(study.cluster(), minutes, kNoVc);
  DailyRhythm rhythm;
  for (std::size_t minute = 0; minute < running.size(); ++minute) {
    const double use = use_of(std::min(running[minute], there[minute]), there[minute]);
    if (!std::isnan(use)) rhythm.add(minutes.first + static_cast<std::int64_t>(minute), use);
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = fmt::format(
      "Share of the {} in use, by hour of the day in the log's time zone. Mean over all days from "
      "the first submission to the last.",
      study.cluster().lower_bound ? "most GPUs ever in use at once" : "GPUs");
  auto& hour = figure.number("hour", "Hour of the day");
  auto& use = figure.number("utilization", "GPUs in use", figure::Unit::fraction);
  for (std::size_t h = 0; h < DailyRhythm::kHours; ++h) {
    hour.add(static_cast<double>(h));
    use.add(rhythm.mean(h));
  }
  figure.charts.push_back({.kind = "line", .x = "hour", .y = {"utilization"}});
  const double mean = rhythm.mean();
  if (std::isnan(mean)) return drawing;
  figure::Finding finding;
  const bool is_bound = study.cluster().lower_bound;
  const double gpus = study.cluster().gpus();
  // Of a bound by what ran at once, a share says how even the use was, and not how full it was.
  finding.headline =
      is_bound ? fmt::format("On average {} GPUs are in use, of at least {}", count_of(mean * gpus),
                             count_of(gpus))
               : fmt::format("On average {} of the GPUs are in use", text::human_share(mean));
  constexpr double kSwing = 0.05;
  const auto [low, high] = std::minmax_element(use.numbers.begin(), use.numbers.end());
  const bool repeats = rhythm.repeats() && *high - *low >= kSwing;
  if (repeats) {
    const auto spelled = [&](double share) {
      return is_bound ? count_of(share * gpus) : text::human_share(share);
    };
    finding.headline +=
        fmt::format(": {} at {:02}:00, {} at {:02}:00", spelled(*low), low - use.numbers.begin(),
                    spelled(*high), high - use.numbers.begin());
  }
  finding.headline += ".";
  finding.detail = fmt::format("Period: {} from the first submission to the last.",
                               text::human_time(60.0 * static_cast<double>(minutes.count)));
  if (study.cluster().inferred) {
    finding.detail +=
        is_bound ? " The log does not say how many GPUs there are; this is the most ever in use at "
                   "once. Pass --cluster to give the real number."
                 : " Counts the GPUs of nodes that ran jobs; other nodes may have been idle (pass "
                   "--cluster to include them).";
  }
  finding.published = "Helios: clusters ran at 65 to 90 % and fell by 5 to 8 points at night.";
  const double a_node = gpus / static_cast<double>(study.cluster().nodes.size());
  if (repeats && !study.cluster().inferred && (1 - *low) * gpus >= a_node) {
    finding.advice =
        "The load repeats from day to day, so it can be forecast: idle nodes could sleep and wake "
        "in time. Run almanac energy simulate for the savings.";
  }
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_helios_fig2a(Figures& registry) {
  registry.add({.id = "helios_fig2a",
                .title = "GPUs in use over the day",
                .source = "Hu et al., SC'21, Figure 2(a), implication 1",
                .part = Part::cluster,
                .needs = {Need::gpu_jobs, Need::start, Need::calendar},
                .draw = draw_helios_fig2a});
}

}  // namespace almanac::study
