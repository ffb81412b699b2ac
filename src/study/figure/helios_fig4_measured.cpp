// SPDX-License-Identifier: Apache-2.0

/// \file
/// Virtual clusters compared by measured utilization, instead of utilization computed from jobs.
///
/// Source   Hu et al., SC'21, Figure 4 (boxes).
#include "study/box_columns.h"
#include "study/figures.h"
#include "study/vc_series.h"

namespace almanac::study {

void register_helios_fig4_measured(Figures& registry);

namespace {

Drawing draw_helios_fig4_measured(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Share of GPUs in use, minute by minute, from the given series.";
  auto& name = figure.text("vc", "Virtual cluster");
  auto& gpus = figure.number("gpus", "GPUs", figure::Unit::gpus);
  auto& minutes = figure.number("minutes", "Minutes");
  BoxColumns boxes(figure, figure::Unit::fraction);
  std::int64_t samples = 0;
  for (const VcSeries& series : *study.measured().vcs) {
    samples += static_cast<std::int64_t>(series.minutes);
    name.add(series.name);
    gpus.add(series.gpus);
    minutes.add(static_cast<double>(series.minutes));
    boxes.add(series.use);
  }
  figure.n = samples;
  figure.charts.push_back({.kind = "box", .x = "vc", .box = boxes.names()});
  return drawing;
}

}  // namespace

void register_helios_fig4_measured(Figures& registry) {
  registry.add({.id = "helios_fig4_measured",
                .title = "Virtual clusters compared, as measured",
                .source = "Hu et al., SC'21, Figure 4",
                .part = Part::vcs,
                .needs = {Need::vc_series},
                .draw = draw_helios_fig4_measured});
}

}  // namespace almanac::study
