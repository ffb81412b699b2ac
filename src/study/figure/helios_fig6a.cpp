// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs by the number of GPUs that they request.
///
/// Source   Hu et al., SC'21, Figure 6(a).
#include "study/figures.h"
#include "study/job_sizes.h"

namespace almanac::study {

void register_helios_fig6a(Figures& registry);

namespace {

Drawing draw_helios_fig6a(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = "Cumulative share of GPU jobs by the number of requested GPUs.";
  auto& gpus = figure.text("gpus", "Requested GPUs");
  auto& count = figure.number("count", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  const SizeCdf cdf = size_cdf(study, [](const trace::Job&) { return 1.0; });
  for (std::size_t at = 0; at < kSizePoints.size(); ++at) {
    gpus.add(std::string(kSizePoints[at].name));
    count.add(cdf[at]);
    fraction.add(cdf[at] / cdf.back());
  }
  figure.charts.push_back({.kind = "line", .x = "gpus", .y = {"fraction"}});
  return drawing;
}

}  // namespace

void register_helios_fig6a(Figures& registry) {
  registry.add({.id = "helios_fig6a",
                .title = "Jobs by size",
                .source = "Hu et al., SC'21, Figure 6(a)",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw_helios_fig6a});
}

}  // namespace almanac::study
