// SPDX-License-Identifier: Apache-2.0

/// \file
/// How GPU jobs and CPU jobs end.
///
/// Source   Hu et al., SC'21, Figure 7(a).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "study/coverage.h"
#include "study/figures.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig7a(Figures& registry);

namespace {

Drawing draw_helios_fig7a(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Jobs whose final state is known, by final state.";
  figure.caption += failed_caption(study);
  auto& kind = figure.text("kind", "Jobs");
  auto& ending = figure.text("ending", "Final state");
  auto& count = figure.number("count", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share", figure::Unit::fraction);
  std::int64_t all = 0;
  std::int64_t known_gpu = 0;
  std::vector<double> failed_s;
  std::vector<double> failed_wait_s;
  double timed_out = 0;
  double preempted = 0;
  for (const auto& [name, jobs] :
       {std::pair{"CPU jobs", study.cpu_jobs()}, std::pair{"GPU jobs", study.gpu_jobs()}}) {
    std::array<std::int64_t, kEndings.size()> counts{};
    std::int64_t known = 0;
    const bool on_gpus = name == std::string_view("GPU jobs");
    for (const std::uint32_t at : jobs) {
      const trace::Job& job = study.job(at);
      const auto each = ending_of(job);
      if (!each) continue;
      ++known;
      ++counts[static_cast<std::size_t>(*each)];
      if (!on_gpus) continue;
      if (*each == Ending::timed_out) ++timed_out;
      if (*each == Ending::preempted) ++preempted;
      if (*each != Ending::failed) continue;
      failed_s.push_back(seconds(duration_of(job)));
      if (const double wait = wait_s(job); !std::isnan(wait)) failed_wait_s.push_back(wait);
    }
    if (on_gpus) known_gpu = known;
    all += known;
    if (known == 0) continue;
    for (const Ending each : kEndings) {
      if (!is_published(each) && counts[static_cast<std::size_t>(each)] == 0) continue;
      const auto number = static_cast<double>(counts[static_cast<std::size_t>(each)]);
      kind.add(std::string(name));
      ending.add(std::string(to_string(each)));
      count.add(number);
      fraction.add(number / static_cast<double>(known));
    }
  }
  figure.n = all;
  figure.charts.push_back(
      {.kind = "bar", .x = "kind", .y = {"fraction"}, .by = "ending", .stacked = true});
  if (failed_s.empty() || !known_for_most(study, known_gpu)) return drawing;
  const double share = static_cast<double>(failed_s.size()) / static_cast<double>(known_gpu);
  const double median = stats::quantile(failed_s, 0.5);
  figure::Finding finding{
      .headline =
          fmt::format("{} of the GPU jobs {}, half of these within {}.", text::human_share(share),
                      tells_failed_from_cancelled(study) ? "fail" : "do not complete",
                      text::human_time(median)),
      .published = "Helios: 15.5 % of the GPU jobs fail, mostly short ones that debug a script."};
  if (timed_out > 0) {
    finding.detail += fmt::format("A further {} hit their time limit.",
                                  text::human_share(timed_out / static_cast<double>(known_gpu)));
  }
  if (preempted > 0) {
    finding.detail += fmt::format("{}A further {} were preempted.", timed_out > 0 ? " " : "",
                                  text::human_share(preempted / static_cast<double>(known_gpu)));
  }
  constexpr double kOften = 0.05;
  constexpr double kShort_s = 600;
  if (share >= kOften && median < kShort_s) {
    const double wait = stats::quantile(failed_wait_s, 0.5);
    if (known_for_most(study, known_gpu) && wait > median) {
      finding.detail += fmt::format("{}Half of the failed jobs waited longer than {}.",
                                    finding.detail.empty() ? "" : " ", text::human_time(wait));
      finding.advice =
          "Give debugging jobs their own queue with a short time limit, so that they do not wait "
          "behind production jobs.";
    }
  } else if (share >= kOften) {
    finding.advice = "Jobs fail late here, so checkpoints and early checks save most.";
  }
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_helios_fig7a(Figures& registry) {
  registry.add({.id = "helios_fig7a",
                .title = "Final states of jobs",
                .source = "Hu et al., SC'21, Figure 7(a), implication 6",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs, Need::state},
                .draw = draw_helios_fig7a});
}

}  // namespace almanac::study
