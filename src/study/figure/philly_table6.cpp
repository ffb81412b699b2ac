// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs end and how much GPU time that costs, next to Philly.
///
/// Source   Jeon et al., ATC'19, Table 6: passed, killed, unsuccessful.
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"

namespace almanac::study {

void register_philly_table6(Figures& registry);

namespace {

struct Published {
  double fraction, gpu_time_fraction;
};

constexpr double kNotPublished = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<Published, kEndings.size()> kPhilly{{{0.693, 0.4453},
                                                          {0.135, 0.3769},
                                                          {0.172, 0.1776},
                                                          {kNotPublished, kNotPublished},
                                                          {kNotPublished, kNotPublished}}};

Drawing draw_philly_table6(const Study& study) {
  std::array<double, kEndings.size()> jobs{}, time{};
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const auto ending = ending_of(job);
    if (!ending) continue;
    ++jobs[static_cast<std::size_t>(*ending)];
    time[static_cast<std::size_t>(*ending)] += gpu_time(job);
  }
  const double known = std::accumulate(jobs.begin(), jobs.end(), 0.0);
  const double total = std::accumulate(time.begin(), time.end(), 0.0);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(known);
  figure.caption = "GPU jobs whose final state is known.";
  figure.caption += failed_caption(study);
  auto& ending = figure.text("ending", "Final state");
  auto& count = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  auto& gpu_s = figure.number("gpu_time_gpu_s", "GPU time", figure::Unit::gpu_seconds);
  auto& of_time =
      figure.number("gpu_time_fraction", "Share of the GPU time", figure::Unit::fraction);
  auto& p_jobs =
      figure.number("philly_fraction", "Philly: share of the jobs", figure::Unit::fraction);
  auto& p_time = figure.number("philly_gpu_time_fraction", "Philly: share of the GPU time",
                               figure::Unit::fraction);
  for (const Ending each : kEndings) {
    const auto at = static_cast<std::size_t>(each);
    if (!is_published(each) && jobs[at] == 0) continue;
    ending.add(std::string(to_string(each)));
    count.add(jobs[at]);
    fraction.add(jobs[at] / known);
    gpu_s.add(time[at]);
    of_time.add(time[at] / total);
    p_jobs.add(kPhilly[at].fraction);
    p_time.add(kPhilly[at].gpu_time_fraction);
  }
  figure.charts.push_back(
      {.kind = "bar",
       .x = "ending",
       .y = {"fraction", "philly_fraction", "gpu_time_fraction", "philly_gpu_time_fraction"}});
  drawing.published = {p_jobs.name, p_time.name};
  return drawing;
}

}  // namespace

void register_philly_table6(Figures& registry) {
  registry.add({.id = "philly_table6",
                .title = "Final states and their GPU time",
                .source = "Jeon et al., ATC'19, Table 6",
                .part = Part::failures,
                .needs = {Need::gpu_jobs, Need::state},
                .draw = draw_philly_table6});
}

}  // namespace almanac::study
