// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly users share the GPU time.
///
/// Source   Hu et al., SC'21, Figure 8(a).
#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/user_shares.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig8a(Figures& registry);

namespace {

Drawing draw_helios_fig8a(const Study& study) {
  figure::Column quantity{.name = "gpu_time_gpu_s",
                          .label = "GPU time",
                          .unit = figure::Unit::gpu_seconds,
                          .type = figure::Type::number,
                          .numbers = {},
                          .texts = {}};
  UserShares shares =
      user_shares(study, std::move(quantity), [](const trace::Job& job) { return gpu_time(job); });
  Drawing drawing{.figure = std::move(shares.figure), .findings = {}};
  drawing.figure.caption = "Cumulative share of GPU time, users in descending order of GPU time.";
  if (shares.users < 20 || !(shares.top_5 > 0) || !known_for_most(study, *drawing.figure.n)) {
    return drawing;
  }
  constexpr double kMuch = 0.3;
  drawing.findings.push_back(
      {.headline = fmt::format("The top 5 % of the users ({} of {}) use {} of the GPU time.",
                               shares.users_at_top, shares.users, text::human_share(shares.top_5)),
       .advice = shares.top_5 >= kMuch
                     ? "Talk to these users first: changes to their jobs have the largest effect."
                     : "",
       .published = "Helios: the top 5 % of the users take 45 to 60 % of the GPU time."});
  return drawing;
}

}  // namespace

void register_helios_fig8a(Figures& registry) {
  registry.add({.id = "helios_fig8a",
                .title = "GPU time by user",
                .source = "Hu et al., SC'21, Figure 8(a)",
                .part = Part::users,
                .needs = {Need::gpu_jobs, Need::user},
                .draw = draw_helios_fig8a});
}

}  // namespace almanac::study
