// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many jobs of each size are unsuccessful.
///
/// Source   Jeon et al., ATC'19, Figure 9(b): unsuccessful is what failed, not what a user killed.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/size_bucket.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_fig9b(Figures& registry);

namespace {

constexpr std::array kPhillyFailures{0.13, 0.37, 0.42, 0.47, 0.17};

Drawing draw_philly_fig9b(const Study& study) {
  std::array<double, kSizes.size() + 1> jobs{}, failed{};  // the last: all
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const auto ending = ending_of(job);
    if (!ending) continue;
    for (const std::size_t each : {size_of(job.request.gpus), kSizes.size()}) {
      ++jobs[each];
      if (*ending == Ending::failed) ++failed[each];
    }
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(jobs.back());
  figure.caption =
      "Share of the GPU jobs that failed, of those whose final state is known; a job that ran into "
      "its time limit or was preempted has not failed.";
  figure.caption += failed_caption(study);
  auto& size = figure.text("size", "Size");
  auto& count = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& rate = figure.number("unsuccessful_fraction", "Unsuccessful", figure::Unit::fraction);
  auto& philly = figure.number("philly_fraction", "Philly, as published", figure::Unit::fraction);
  for (std::size_t each = 0; each <= kSizes.size(); ++each) {
    size.add(each < kSizes.size() ? std::string(kSizes[each]) : "all");
    count.add(jobs[each]);
    rate.add(failed[each] / jobs[each]);
    philly.add(kPhillyFailures[each]);
  }
  if (failed.back() == 0) figure.caption += " None failed.";
  figure.charts.push_back(
      {.kind = "bar", .x = "size", .y = {"unsuccessful_fraction", "philly_fraction"}});
  drawing.published = {philly.name};
  constexpr std::size_t kOne = 0, kMany = 3;
  const bool enough = jobs[kOne] >= 20 && jobs[kMany] >= 20;
  if (enough && known_for_most(study, *figure.n)) {
    const double one = failed[kOne] / jobs[kOne];
    const double many = failed[kMany] / jobs[kMany];
    figure::Finding finding{
        .headline = fmt::format(
            "{} of the single-GPU jobs {}, and {} of the jobs with more than 8 GPUs.",
            text::human_share(one), tells_failed_from_cancelled(study) ? "fail" : "do not complete",
            text::human_share(many)),
        .published =
            "Philly: 13 % of the single-GPU jobs, 47 % of the jobs with more than 8 GPUs."};
    // Two shares of so many jobs differ by chance by less than this in 997 of 1,000 cases.
    const double both = (failed[kOne] + failed[kMany]) / (jobs[kOne] + jobs[kMany]);
    const double chance = 3 * std::sqrt(both * (1 - both) * (1 / jobs[kOne] + 1 / jobs[kMany]));
    if (many - one > chance) {
      finding.detail = "More GPUs mean more parts that can fail.";
      finding.advice = "Try a large job on one GPU for a minute first, to catch simple mistakes.";
    }
    drawing.findings.push_back(std::move(finding));
  }
  return drawing;
}

}  // namespace

void register_philly_fig9b(Figures& registry) {
  registry.add({.id = "philly_fig9b",
                .title = "Unsuccessful jobs by size",
                .source = "Jeon et al., ATC'19, Figure 9(b)",
                .part = Part::failures,
                .needs = {Need::gpu_jobs, Need::state},
                .draw = draw_philly_fig9b});
}

}  // namespace almanac::study
