// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly waiting falls on users.
///
/// Source   Hu et al., SC'21, Figure 9(a): the time that a user's GPU jobs waited.
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/user_shares.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig9a(Figures& registry);

namespace {

/// The part of the GPU time that the first `count` of `users` hold.
double gpu_time_share(const Study& study, const std::vector<std::string>& users,
                      std::size_t count) {
  std::set<std::string_view> first;
  for (std::size_t at = 0; at < count; ++at) first.insert(users[at]);
  double held = 0;
  double all = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const double time = gpu_time(job);
    all += time;
    if (first.contains(study.trace().names[job.request.user])) held += time;
  }
  return held / all;
}

Drawing draw_helios_fig9a(const Study& study) {
  figure::Column quantity{.name = "wait_s",
                          .label = "Waiting",
                          .unit = figure::Unit::seconds,
                          .type = figure::Type::number,
                          .numbers = {},
                          .texts = {}};
  UserShares shares = user_shares(study, std::move(quantity), [](const trace::Job& job) {
    return job.request.gpus > 0 ? wait_s(job) : 0.0;
  });
  Drawing drawing{.figure = std::move(shares.figure), .findings = {}};
  drawing.figure.caption =
      "Users in descending order of the time that their GPU jobs waited before they first ran.";
  if (shares.users < 20 || !(shares.top_5 > 0) || !known_for_most(study, starts_known(study))) {
    return drawing;
  }
  const double held = gpu_time_share(study, drawing.figure["user"].texts, shares.users_at_top);
  // Users who wait long because they ask much wait for themselves.
  const bool wait_for_others = shares.top_5 >= 0.5 && held < shares.top_5 / 2;
  drawing.findings.push_back(
      {.headline = fmt::format("The top 5 % of the users ({}) bear {} of the waiting.",
                               shares.users_at_top, text::human_share(shares.top_5)),
       .detail = fmt::format("They hold {} of the GPU time. In Uranus 1 % of the users bore over "
                             "70 % of the waiting.",
                             text::human_share(held)),
       .figure = {},
       .advice = wait_for_others ? "These few wait for others: raise their priority or move them "
                                   "to another virtual cluster."
                                 : ""});
  return drawing;
}

}  // namespace

void register_helios_fig9a(Figures& registry) {
  registry.add({.id = "helios_fig9a",
                .title = "Waiting by user",
                .source = "Hu et al., SC'21, Figure 9(a), implication 7",
                .part = Part::users,
                .needs = {Need::gpu_jobs, Need::user, Need::start},
                .draw = draw_helios_fig9a});
}

}  // namespace almanac::study
