// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long CPU jobs last.
///
/// Source   Hu et al., SC'21, Figure 5(b).
#include <fmt/format.h>

#include "stats/quantile.h"
#include "study/duration_cdf.h"
#include "study/figures.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig5b(Figures& registry);

namespace {

Drawing draw_helios_fig5b(const Study& study) {
  Drawing drawing;
  drawing.figure = duration_cdf(study, study.cpu_jobs());
  drawing.figure.caption =
      "Cumulative distribution of the durations of CPU jobs, at powers of two.";
  // Fewer say nothing of the others.
  constexpr std::size_t kFewest = 20;
  if (study.cpu_jobs().size() < kFewest || study.gpu_jobs().size() < kFewest) return drawing;
  const double cpu = stats::quantile_sorted(sorted_durations(study, study.cpu_jobs()), 0.5);
  const double gpu = stats::quantile_sorted(sorted_durations(study, study.gpu_jobs()), 0.5);
  drawing.findings.push_back(
      {.headline = fmt::format("The median duration is {} for CPU jobs and {} for GPU jobs.",
                               text::human_time(cpu), text::human_time(gpu)),
       .published = "Helios: more than half of the CPU jobs took 2 s or less, for queries of the "
                    "cluster's state and small scripts."});
  return drawing;
}

}  // namespace

void register_helios_fig5b(Figures& registry) {
  registry.add({.id = "helios_fig5b",
                .title = "Durations of CPU jobs",
                .source = "Hu et al., SC'21, Figure 5(b)",
                .part = Part::jobs,
                .needs = {Need::cpu_jobs},
                .draw = draw_helios_fig5b});
}

}  // namespace almanac::study
