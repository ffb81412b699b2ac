// SPDX-License-Identifier: Apache-2.0

/// \file
/// The distribution of GPU utilization, by size and ending.
///
/// Source   Jeon et al., ATC'19, Figure 5.
#include <fmt/format.h>

#include "study/figures.h"
#include "study/gpu_use.h"

namespace almanac::study {

void register_philly_fig5(Figures& registry);

namespace {

Drawing draw_philly_fig5(const Study& study) {
  const GpuUse& use = *study.measured().gpu;
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Percentiles of GPU utilization, one sample a GPU and minute.";
  auto& size = figure.text("gpus", "GPUs");
  auto& ending = figure.text("ending", "Final state");
  auto& percentile = figure.number("percentile", "Minutes so busy or less", figure::Unit::percent);
  auto& percent = figure.number("utilization_percent", "GPU utilization", figure::Unit::percent);
  std::int64_t samples = 0;
  for (std::size_t each = 0; each < kUseSizes.size(); ++each) {
    for (const Ending one : kEndings) {
      const PercentHistogram& of = use.of_size[each][static_cast<std::size_t>(one)];
      samples += of.count();
      if (of.count() == 0) continue;
      for (int p = 1; p <= 99; ++p) {
        size.add(fmt::format("{}", kUseSizes[each]));
        ending.add(std::string(to_string(one)));
        percentile.add(p);
        percent.add(of.quantile(p / 100.0));
      }
    }
  }
  figure.n = samples;
  figure.charts.push_back({.kind = "line",
                           .x = "utilization_percent",
                           .y = {"percentile"},
                           .by = "gpus",
                           .choose = {"ending"}});
  return drawing;
}

}  // namespace

void register_philly_fig5(Figures& registry) {
  registry.add({.id = "philly_fig5",
                .title = "The distribution of GPU utilization",
                .source = "Jeon et al., ATC'19, Figure 5",
                .part = Part::locality,
                .needs = {Need::gpu_utilization},
                .draw = draw_philly_fig5});
}

}  // namespace almanac::study
