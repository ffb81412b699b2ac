// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPU time by the number of GPUs that jobs request.
///
/// Source   Hu et al., SC'21, Figure 6(b).
#include <fmt/format.h>

#include "study/figures.h"
#include "study/job_sizes.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig6b(Figures& registry);

namespace {

Drawing draw_helios_fig6b(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption =
      "Cumulative share of GPU time (duration x GPUs) by the number of requested GPUs.";
  auto& gpus = figure.text("gpus", "Requested GPUs");
  auto& gpu_s = figure.number("gpu_time_gpu_s", "GPU time", figure::Unit::gpu_seconds);
  auto& fraction = figure.number("fraction", "Share of the GPU time", figure::Unit::fraction);
  const SizeCdf jobs = size_cdf(study, [](const trace::Job&) { return 1.0; });
  const SizeCdf time = size_cdf(study, gpu_time);
  for (std::size_t at = 0; at < kSizePoints.size(); ++at) {
    gpus.add(std::string(kSizePoints[at].name));
    gpu_s.add(time[at]);
    fraction.add(time[at] / time.back());
  }
  figure.charts.push_back({.kind = "line", .x = "gpus", .y = {"fraction"}});
  constexpr std::size_t kOne = 0, kEight = 3;
  drawing.findings.push_back(
      {.headline =
           jobs[kOne] > 0
               ? fmt::format("Single-GPU jobs are {} of the jobs and take {} of the GPU time.",
                             text::human_share(jobs[kOne] / jobs.back()),
                             text::human_share(time[kOne] / time.back()))
               : fmt::format(
                     "Every job has several GPUs; jobs with up to 8 are {} of the jobs and take "
                     "{} of the GPU time.",
                     text::human_share(jobs[kEight] / jobs.back()),
                     text::human_share(time[kEight] / time.back())),
       .detail =
           fmt::format("Jobs with more than 8 GPUs are {} of the jobs and take {} of the GPU time.",
                       text::human_share(1 - jobs[kEight] / jobs.back()),
                       text::human_share(1 - time[kEight] / time.back())),
       .advice = time[kOne] / time.back() < 0.5
                     ? "Judge a scheduler by what it does for multi-GPU jobs."
                     : "Judge a scheduler by what it does for single-GPU jobs.",
       .published =
           "Helios: single-GPU jobs are over 50 % of the jobs and take 3 to 12 % of the GPU "
           "time."});
  return drawing;
}

}  // namespace

void register_helios_fig6b(Figures& registry) {
  registry.add({.id = "helios_fig6b",
                .title = "GPU time by size",
                .source = "Hu et al., SC'21, Figure 6(b), implication 4",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs},
                .draw = draw_helios_fig6b});
}

}  // namespace almanac::study
