// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPU time by how jobs ended, next to the two published clusters.
///
/// Source   Hu et al., SC'21, Figure 1(b). Its mapping of Philly: Pass is completed, Killed is
///          cancelled, Failed is failed.
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig1b(Figures& registry);

namespace {

constexpr double kNotOfThePaper = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kHeliosStates{0.513, 0.394, 0.093, kNotOfThePaper, kNotOfThePaper};
constexpr std::array kPhillyStates{0.313, 0.326, 0.361, kNotOfThePaper, kNotOfThePaper};

Drawing draw_helios_fig1b(const Study& study) {
  std::array<double, kEndings.size()> time{};
  std::int64_t jobs = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const auto ending = ending_of(job);
    if (!ending) continue;
    ++jobs;
    time[static_cast<std::size_t>(*ending)] += gpu_time(job);
  }
  const double total = std::accumulate(time.begin(), time.end(), 0.0);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = jobs;
  figure.caption =
      "GPU time (duration x GPUs) of the jobs whose final state is known. Node failures count as "
      "failed. Jobs that timed out or were preempted do not, unlike in the papers.";
  figure.caption += failed_caption(study);
  auto& ending = figure.text("ending", "Final state");
  auto& gpu_s = figure.number("gpu_time_gpu_s", "GPU time", figure::Unit::gpu_seconds);
  auto& fraction = figure.number("fraction", "This log", figure::Unit::fraction);
  auto& helios = figure.number("helios_fraction", "Helios", figure::Unit::fraction);
  auto& philly = figure.number("philly_fraction", "Philly", figure::Unit::fraction);
  for (const Ending each : kEndings) {
    const auto at = static_cast<std::size_t>(each);
    if (!is_published(each) && time[at] == 0) continue;
    ending.add(std::string(to_string(each)));
    gpu_s.add(time[at]);
    fraction.add(time[at] / total);
    helios.add(kHeliosStates[at]);
    philly.add(kPhillyStates[at]);
  }
  figure.charts.push_back(
      {.kind = "bar", .x = "ending", .y = {"fraction", "helios_fraction", "philly_fraction"}});
  drawing.published = {helios.name, philly.name};
  if (!known_for_most(study, jobs)) return drawing;
  const double lost = (total - time[0]) / total;
  if (!(lost > 0)) return drawing;
  figure::Finding finding{.headline =
                              fmt::format("{} of the GPU time went to jobs that did not complete.",
                                          text::human_share(lost))};
  if (tells_failed_from_cancelled(study)) {
    finding.detail =
        fmt::format("{} went to cancelled jobs, {} to failed jobs",
                    text::human_share(time[1] / total), text::human_share(time[2] / total));
    if (time[3] > 0) {
      finding.detail +=
          fmt::format(", {} to jobs that hit their time limit (they may have saved useful work)",
                      text::human_share(time[3] / total));
    }
    if (time[4] > 0) {
      finding.detail += fmt::format(", {} to preempted jobs", text::human_share(time[4] / total));
    }
    finding.detail += ".";
  }
  finding.published = "GPU time of jobs that did not complete: 48.7 % in Helios, 68.7 % in Philly.";
  constexpr double kMuch = 0.1;
  if (tells_failed_from_cancelled(study) && time[1] / total >= kMuch) {
    finding.detail += " A cancelled training job may have converged early.";
    finding.advice = "Let jobs report progress, and stop those that no longer improve.";
  }
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_helios_fig1b(Figures& registry) {
  registry.add({.id = "helios_fig1b",
                .title = "GPU time by final state",
                .source = "Hu et al., SC'21, Figure 1(b), implication 5",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs, Need::state},
                .draw = draw_helios_fig1b});
}

}  // namespace almanac::study
