// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many attempts jobs of each size need.
///
/// Source   Jeon et al., ATC'19, Figure 9(a): attempts after the first, mean over the jobs.
#include <array>
#include <limits>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/size_bucket.h"

namespace almanac::study {

void register_philly_fig9a(Figures& registry);

namespace {

constexpr std::array kPhillyRetries{0.33, 0.98, 1.09, 1.11, 0.44};

Drawing draw_philly_fig9a(const Study& study) {
  std::array<double, kSizes.size() + 1> jobs{}, retries{};  // the last: all
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    if (job.outcome.attempts == 0) continue;
    for (const std::size_t each : {size_of(job.request.gpus), kSizes.size()}) {
      ++jobs[each];
      retries[each] += job.outcome.attempts - 1;
    }
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(jobs.back());
  figure.caption = "Attempts after the first, mean over the GPU jobs whose attempts are known.";
  auto& size = figure.text("size", "Size");
  auto& count = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& mean = figure.number("mean_retries", "Mean retries");
  auto& philly = figure.number("philly_mean_retries", "Philly, as published");
  for (std::size_t each = 0; each <= kSizes.size(); ++each) {
    size.add(each < kSizes.size() ? std::string(kSizes[each]) : "all");
    count.add(jobs[each]);
    mean.add(retries[each] / jobs[each]);
    philly.add(kPhillyRetries[each]);
  }
  figure.charts.push_back(
      {.kind = "bar", .x = "size", .y = {"mean_retries", "philly_mean_retries"}});
  drawing.published = {philly.name};
  const double all = retries.back() / jobs.back();
  constexpr double kOften = 0.1;
  if (all > 0 && known_for_most(study, *figure.n)) {
    drawing.findings.push_back(
        {.headline = fmt::format("The mean number of attempts per job is {:.2f}.", 1 + all),
         .advice = all >= kOften ? "Retry only failures that can succeed next time: almanac study "
                                   "failures finds them in the jobs' logs."
                                 : "",
         .published = "Philly: 1.44 attempts per job, and 2 for jobs with several GPUs."});
  }
  return drawing;
}

}  // namespace

void register_philly_fig9a(Figures& registry) {
  registry.add({.id = "philly_fig9a",
                .title = "Retries by size",
                .source = "Jeon et al., ATC'19, Figure 9(a)",
                .part = Part::failures,
                .needs = {Need::gpu_jobs, Need::attempts},
                .draw = draw_philly_fig9a});
}

}  // namespace almanac::study
