// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly users share the CPU time of jobs without GPUs.
///
/// Source   Hu et al., SC'21, Figure 8(b): duration x cores of CPU jobs.
#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/user_shares.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig8b(Figures& registry);

namespace {

Drawing draw_helios_fig8b(const Study& study) {
  figure::Column quantity{.name = "cpu_time_cpu_s",
                          .label = "CPU time",
                          .unit = figure::Unit::cpu_seconds,
                          .type = figure::Type::number,
                          .numbers = {},
                          .texts = {}};
  UserShares shares = user_shares(study, std::move(quantity), [](const trace::Job& job) {
    return job.request.gpus > 0 ? 0.0
                                : static_cast<double>(job.request.cpus) * seconds(duration_of(job));
  });
  Drawing drawing{.figure = std::move(shares.figure), .findings = {}};
  drawing.figure.caption =
      "Cumulative share of the CPU time (duration x cores) of jobs without GPUs, users in "
      "descending order of CPU time.";
  constexpr std::size_t kFewest = 20;  // below, one job may be most of it
  const bool is_few = shares.users < kFewest || study.cpu_jobs().size() < kFewest;
  if (is_few || !(shares.top_5 > 0) || !known_for_most(study, *drawing.figure.n)) {
    return drawing;
  }
  drawing.findings.push_back(
      {.headline = fmt::format("The top 5 % of the users ({} of {}) use {} of the CPU time.",
                               shares.users_at_top, shares.users, text::human_share(shares.top_5)),
       .published = "Helios: the top 5 % of the users take over 90 % of the CPU time, because few "
                    "people preprocess data for many."});
  return drawing;
}

}  // namespace

void register_helios_fig8b(Figures& registry) {
  registry.add({.id = "helios_fig8b",
                .title = "CPU time by user",
                .source = "Hu et al., SC'21, Figure 8(b)",
                .part = Part::users,
                .needs = {Need::cpu_jobs, Need::user, Need::cpus},
                .draw = draw_helios_fig8b});
}

}  // namespace almanac::study
