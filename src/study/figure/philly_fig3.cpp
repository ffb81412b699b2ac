// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long jobs of each size wait, in each virtual cluster.
///
/// Source   Jeon et al., ATC'19, Figure 3, and the notebook of the philly-traces release: one value
///          per attempt, its start minus the submission or the end of the attempt before. Waits of
///          0 are left out. The five virtual clusters with the most jobs are shown. If the log has
///          no attempts, each job has one value.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"
#include "study/percentiles.h"
#include "study/size_bucket.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_fig3(Figures& registry);

namespace {

constexpr std::size_t kShownVcs = 5;

using WaitsOfSizes = std::array<std::vector<double>, kSizes.size()>;

struct Waits {
  WaitsOfSizes waits{};  ///< Those longer than 0.
  std::int64_t jobs = 0;
  std::int64_t none = 0;  ///< Waits of 0.
};

void add(Waits& waits, const trace::Job& job, Duration wait) {
  if (wait <= Duration{0}) {
    ++waits.none;
    return;
  }
  waits.waits[size_of(job.request.gpus)].push_back(seconds(wait));
}

std::map<NameId, Waits> waits_of(const Study& study) {
  std::map<NameId, Waits> by_vc;
  const bool attempts = !study.trace().attempts.empty();
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    Waits& waits = by_vc[job.request.vc];
    ++waits.jobs;
    if (!attempts && job.outcome.start != kNoTime) {
      add(waits, job, job.outcome.start - job.request.submit);
    }
  }
  Time since{};
  std::uint32_t of = UINT32_MAX;
  for (const trace::Attempt& attempt : study.trace().attempts) {
    const trace::Job& job = study.job(attempt.job);
    if (attempt.job != of) since = job.request.submit;
    of = attempt.job;
    const auto found = by_vc.find(job.request.vc);
    if (found == by_vc.end() || job.request.gpus == 0) continue;
    if (attempt.start != kNoTime && since != kNoTime)
      add(found->second, job, attempt.start - since);
    since = attempt.end;
  }
  return by_vc;
}

Drawing draw_philly_fig3(const Study& study) {
  std::map<NameId, Waits> by_vc = waits_of(study);
  std::vector<std::pair<NameId, Waits*>> largest;
  std::vector<double> all;
  std::int64_t none = 0;
  for (auto& [name, waits] : by_vc) {
    largest.emplace_back(name, &waits);
    none += waits.none;
    for (const auto& size : waits.waits) all.insert(all.end(), size.begin(), size.end());
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.second->jobs > b.second->jobs; });
  if (largest.size() > kShownVcs) largest.resize(kShownVcs);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(all.size());
  figure.caption =
      "Cumulative distribution of the waits of GPU jobs that waited, in the virtual clusters with "
      "most jobs.";
  auto& vc = figure.text("vc", "Virtual cluster");
  auto& size = figure.text("size", "Size");
  auto& percent = figure.number("percentile", "Share of the waits", figure::Unit::percent);
  auto& wait = figure.number("wait_s", "Wait", figure::Unit::seconds);
  for (auto& [name, waits] : largest) {
    const std::string shown = name == kNoName ? "(all)" : std::string(study.trace().names[name]);
    for (std::size_t each = 0; each < kSizes.size(); ++each) {
      add_percentiles(waits->waits[each], percent, wait, [&] {
        vc.add(shown);
        size.add(std::string(kSizes[each]));
      });
    }
  }
  figure.charts.push_back({.kind = "line",
                           .x = "wait_s",
                           .y = {"percentile"},
                           .by = "size",
                           .choose = {"vc"},
                           .x_scale = "log"});
  const std::int64_t started = starts_known(study);
  if (all.empty() || !known_for_most(study, started)) return drawing;
  all.insert(all.end(), static_cast<std::size_t>(none), 0.0);
  std::sort(all.begin(), all.end());
  constexpr double kNoTrouble_s = 60;
  const auto waits = static_cast<std::int64_t>(all.size());
  const double half_s = stats::quantile_sorted(all, 0.5);
  const double tenth_s = stats::quantile_sorted(all, 0.9);
  const char* const whose = study.trace().attempts.empty() ? "GPU jobs" : "attempts of GPU jobs";
  drawing.findings.push_back(
      {.headline = fmt::format(
           "{} and one in ten waits longer than {}.",
           half_s > 0
               ? fmt::format("Half of the {} wait longer than {},", whose, text::human_time(half_s))
               : fmt::format(
                     "{} of the {} do not wait,",
                     text::human_share(static_cast<double>(none) / static_cast<double>(waits)),
                     whose),
           text::human_time(tenth_s)),
       .detail =
           fmt::format("Over {} waits of {} GPU jobs, from {} to the start; {} of them are zero.",
                       text::grouped(waits), text::grouped(started),
                       study.trace().knows_eligible
                           ? "eligibility"
                           : "submission (including dependencies, begin times and holds, "
                             "which the log does not show)",
                       text::human_share(static_cast<double>(none) / static_cast<double>(waits))),
       .advice =
           tenth_s > kNoTrouble_s
               ? "Run almanac advise LOG to see whether another policy would shorten the waits."
               : ""});
  return drawing;
}

}  // namespace

void register_philly_fig3(Figures& registry) {
  registry.add({.id = "philly_fig3",
                .title = "Waits by size",
                .source = "Jeon et al., ATC'19, Figure 3",
                .part = Part::waiting,
                .needs = {Need::gpu_jobs, Need::start},
                .draw = draw_philly_fig3});
}

}  // namespace almanac::study
