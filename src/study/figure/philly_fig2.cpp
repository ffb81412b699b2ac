// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long jobs of each size last.
///
/// Source   Jeon et al., ATC'19, Figure 2: first start to last end, by 1, 2 to 4, 5 to 8 and more
/// GPUs.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "study/figures.h"
#include "study/percentiles.h"
#include "study/size_bucket.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_fig2(Figures& registry);

namespace {

constexpr double kMinute = 60;

Drawing draw(const Study& study) {
  std::array<std::vector<double>, kSizes.size()> minutes;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    minutes[size_of(job.request.gpus)].push_back(seconds(duration_of(job)) / kMinute);
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = "Percentiles of the duration of GPU jobs, in minutes, by size.";
  auto& size = figure.text("size", "Size");
  auto& percent =
      figure.number("percentile", "Jobs that last so long or less", figure::Unit::percent);
  auto& run = figure.number("run_min", "Duration (min)");
  for (std::size_t each = 0; each < kSizes.size(); ++each) {
    add_percentiles(minutes[each], percent, run, [&] { size.add(std::string(kSizes[each])); });
  }
  figure.charts.push_back(
      {.kind = "line", .x = "run_min", .y = {"percentile"}, .by = "size", .x_scale = "log"});
  if (minutes.front().empty() || minutes.back().empty()) return drawing;
  const double small = stats::quantile_sorted(minutes.front(), 0.5) * kMinute;
  const double large = stats::quantile_sorted(minutes.back(), 0.5) * kMinute;
  drawing.findings.push_back(
      {.headline =
           fmt::format("Half of the jobs with one GPU end within {}, half of those with more "
                       "than 8 within {}.",
                       text::human_time(small), text::human_time(large)),
       .detail = "In Philly large jobs run longer at every percentile above the tenth.",
       .figure = {},
       .advice = {}});
  return drawing;
}

}  // namespace

void register_philly_fig2(Figures& registry) {
  registry.add({.id = "philly_fig2",
                .title = "How long jobs of each size last",
                .source = "Jeon et al., ATC'19, Figure 2",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw});
}

}  // namespace almanac::study
