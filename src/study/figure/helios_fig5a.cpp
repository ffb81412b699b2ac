// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long GPU jobs last.
///
/// Source   Hu et al., SC'21, Figure 5(a).
#include "study/duration_cdf.h"
#include "study/figures.h"

namespace almanac::study {

void register_helios_fig5a(Figures& registry);

namespace {

Drawing draw_helios_fig5a(const Study& study) {
  Drawing drawing;
  drawing.figure = duration_cdf(study, study.gpu_jobs());
  drawing.figure.caption =
      "Cumulative distribution of the durations of GPU jobs, at powers of two.";
  return drawing;
}

}  // namespace

void register_helios_fig5a(Figures& registry) {
  registry.add({.id = "helios_fig5a",
                .title = "Durations of GPU jobs",
                .source = "Hu et al., SC'21, Figure 5(a)",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw_helios_fig5a});
}

}  // namespace almanac::study
