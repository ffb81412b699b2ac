// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPU utilization of jobs that have their machines to themselves.
///
/// Source   Jeon et al., ATC'19, Figure 6: 8 GPUs on one machine, 16 on two.
#include <array>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/gpu_use.h"

namespace almanac::study {

void register_philly_fig6(Figures& registry);

namespace {

constexpr std::array kGpus{"8", "16"};

Drawing draw_philly_fig6(const Study& study) {
  const GpuUse& use = *study.measured().gpu;
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption =
      "Percentiles of GPU utilization of jobs with 8 GPUs on one machine and 16 on two.";
  auto& size = figure.text("gpus", "GPUs");
  auto& percentile = figure.number("percentile", "Minutes so busy or less", figure::Unit::percent);
  auto& percent = figure.number("utilization_percent", "GPU utilization", figure::Unit::percent);
  for (std::size_t each = 0; each < kGpus.size(); ++each) {
    const PercentHistogram& of = use.dedicated[each];
    if (of.count() == 0) continue;
    for (int p = 1; p <= 99; ++p) {
      size.add(std::string(kGpus[each]));
      percentile.add(p);
      percent.add(of.quantile(p / 100.0));
    }
  }
  const auto samples = use.dedicated[0].count() + use.dedicated[1].count();
  figure.n = samples;
  figure.charts.push_back(
      {.kind = "line", .x = "utilization_percent", .y = {"percentile"}, .by = "gpus"});
  constexpr std::int64_t kFewest = 10;  // below, a mean is that of a job or two
  if (use.known_for_most() &&
      std::min(use.dedicated_attempts[0], use.dedicated_attempts[1]) >= kFewest) {
    drawing.findings.push_back(
        {.headline = fmt::format(
             "Mean GPU utilization is {:.0f} % for jobs on one machine and {:.0f} % for "
             "jobs on two.",
             use.dedicated[0].mean(), use.dedicated[1].mean()),
         .detail = "Jobs on dedicated machines.",
         .published = "Philly: 60 % on one machine, 44 % on two."});
  }
  return drawing;
}

}  // namespace

void register_philly_fig6(Figures& registry) {
  registry.add({.id = "philly_fig6",
                .title = "GPU utilization on dedicated machines",
                .source = "Jeon et al., ATC'19, Figure 6",
                .part = Part::locality,
                .needs = {Need::gpu_utilization},
                .draw = draw_philly_fig6});
}

}  // namespace almanac::study
