// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long jobs of each size last.
///
/// Source   Jeon et al., ATC'19, Figure 2: first start to last end, by 1, 2 to 4, 5 to 8 and more
///          GPUs.
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

Drawing draw_philly_fig2(const Study& study) {
  std::array<std::vector<double>, kSizes.size()> durations;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    durations[size_of(job.request.gpus)].push_back(seconds(duration_of(job)));
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = "Percentiles of the duration of GPU jobs, by size.";
  auto& size = figure.text("size", "Size");
  auto& percent = figure.number("percentile", "Share of the jobs", figure::Unit::percent);
  auto& run = figure.number("duration_s", "Duration", figure::Unit::seconds);
  for (std::size_t each = 0; each < kSizes.size(); ++each) {
    add_percentiles(durations[each], percent, run, [&] { size.add(std::string(kSizes[each])); });
  }
  figure.charts.push_back(
      {.kind = "line", .x = "duration_s", .y = {"percentile"}, .by = "size", .x_scale = "log"});
  if (durations.front().empty() || durations.back().empty()) return drawing;
  const double small = stats::quantile_sorted(durations.front(), 0.5);
  const double large = stats::quantile_sorted(durations.back(), 0.5);
  drawing.findings.push_back(
      {.headline =
           fmt::format("The median duration is {} for single-GPU jobs and {} for jobs with more "
                       "than 8 GPUs.",
                       text::human_time(small), text::human_time(large)),
       .published = "Philly: large jobs run longer at every percentile above the tenth."});
  return drawing;
}

}  // namespace

void register_philly_fig2(Figures& registry) {
  registry.add({.id = "philly_fig2",
                .title = "Durations by size",
                .source = "Jeon et al., ATC'19, Figure 2",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw_philly_fig2});
}

}  // namespace almanac::study
