// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly users wait.
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
#include "study/own_waiting.h"
#include "study/user_shares.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig9a(Figures& registry);

namespace {

/// The first `count` of `users`.
std::set<std::string_view> first_of(const std::vector<std::string>& users, std::size_t count) {
  return {users.begin(), users.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// The part of the GPU time that `users` hold.
double gpu_time_share(const Study& study, const std::set<std::string_view>& users) {
  double held = 0;
  double all = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const double time = gpu_time(job);
    all += time;
    if (users.contains(study.trace().names[job.request.user])) held += time;
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
      "Cumulative share of the waits of GPU jobs before their first start, users in descending "
      "order of wait. Includes every user with a job that ran.";
  if (shares.users < 20 || !(shares.top_5 > 0) || !known_for_most(study, starts_known(study))) {
    return drawing;
  }
  const auto top = first_of(drawing.figure["user"].texts, shares.users_at_top);
  const double held = gpu_time_share(study, top);
  const double beside_own = waited_beside_own(study, top);
  figure::Finding finding{
      .headline = fmt::format("The top 5 % of the users ({} of {}) have {} of the total wait.",
                              shares.users_at_top, shares.users, text::human_share(shares.top_5)),
      .detail = fmt::format("They use {} of the GPU time.", text::human_share(held))};
  constexpr double kMostly = 0.5;
  if (beside_own >= kMostly) {
    // No priority shortens what a user's own jobs take.
    finding.detail += fmt::format(
        " For {} of that wait, other jobs of the same user were running: a per-user limit or many "
        "jobs submitted at once explain it.",
        text::human_share(beside_own));
  } else if (shares.top_5 >= kMostly && held < shares.top_5 / 2) {
    finding.detail +=
        fmt::format(" For only {} of that wait, other jobs of the same user were running.",
                    text::human_share(beside_own));
    finding.advice =
        "These users wait for others: raise their priority or move them to another virtual "
        "cluster.";
  }
  finding.published = "Uranus (Helios): 1 % of the users had over 70 % of the total wait.";
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_helios_fig9a(Figures& registry) {
  registry.add({.id = "helios_fig9a",
                .title = "Wait by user",
                .source = "Hu et al., SC'21, Figure 9(a), implication 7",
                .part = Part::users,
                .needs = {Need::gpu_jobs, Need::user, Need::start},
                .draw = draw_helios_fig9a});
}

}  // namespace almanac::study
