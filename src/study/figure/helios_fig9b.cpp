// SPDX-License-Identifier: Apache-2.0

/// \file
/// Users by how many of their GPU jobs complete.
///
/// Source   Hu et al., SC'21, Figure 9(b): ten bins over 0 to 100 %; users without GPU jobs count
///          as 0.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig9b(Figures& registry);

namespace {

constexpr std::size_t kBins = 10;

Drawing draw_helios_fig9b(const Study& study) {
  struct Counts {
    std::int64_t completed = 0, known = 0;
    bool on_cpus = false;
  };
  std::vector<Counts> of_user(study.trace().names.size());
  std::int64_t jobs = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const auto ending = ending_of(job);
    if (!ending || job.request.user == kNoName) continue;
    ++jobs;
    Counts& counts = of_user[index(job.request.user)];
    ++counts.known;
    if (*ending == Ending::completed) ++counts.completed;
  }
  for (const std::uint32_t at : study.cpu_jobs()) {
    const NameId user = study.job(at).request.user;
    if (user != kNoName) of_user[index(user)].on_cpus = true;
  }
  std::array<double, kBins> users{};
  double all = 0, below_half = 0;
  for (const Counts& counts : of_user) {
    if (counts.known == 0) {
      if (counts.on_cpus) ++users.front();
      continue;
    }
    ++all;
    if (2 * counts.completed < counts.known) ++below_half;
    const auto bin = static_cast<std::size_t>(counts.completed * 10 / counts.known);
    ++users[std::min(bin, kBins - 1)];  // the last bin holds 100 %
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = jobs;
  figure.caption =
      "Users by the completed share of their GPU jobs whose final state is known. Users with CPU "
      "jobs only count as 0.";
  auto& range = figure.text("completed", "Completed jobs");
  auto& from = figure.number("from_fraction", "From", figure::Unit::fraction);
  auto& to = figure.number("to_fraction", "To", figure::Unit::fraction);
  auto& count = figure.number("users", "Users", figure::Unit::users);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    range.add(fmt::format("{}-{} %", 10 * bin, 10 * (bin + 1)));
    from.add(0.1 * static_cast<double>(bin));
    to.add(0.1 * static_cast<double>(bin + 1));
    count.add(users[bin]);
  }
  figure.charts.push_back({.kind = "bar", .x = "completed", .y = {"users"}});
  if (all < 20 || !known_for_most(study, jobs)) return drawing;
  drawing.findings.push_back(
      {.headline = fmt::format("For {} of the users, fewer than half of their GPU jobs complete.",
                               text::human_share(below_half / all)),
       .detail = fmt::format("Users with GPU jobs whose final state is known: {}.",
                             text::grouped(static_cast<std::int64_t>(all))),
       .figure = {},
       .advice = {}});
  return drawing;
}

}  // namespace

void register_helios_fig9b(Figures& registry) {
  registry.add({.id = "helios_fig9b",
                .title = "Users by share of completed jobs",
                .source = "Hu et al., SC'21, Figure 9(b)",
                .part = Part::users,
                .needs = {Need::gpu_jobs, Need::user, Need::state},
                .draw = draw_helios_fig9b});
}

}  // namespace almanac::study
