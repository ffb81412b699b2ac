// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs wait: their virtual cluster has no GPUs left, or none in the right places.
///
/// Source   Jeon et al., ATC'19, Table 2: jobs of 2 GPUs and more that run a minute or longer. The
///          paper labels every delayed attempt of its scheduler, which no log has; here a job that
///          waited a minute or longer is labelled by what was free when it was submitted: fair
///          share when fewer GPUs of the virtual cluster were free than it asks, else
///          fragmentation.
#include <array>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/size_bucket.h"
#include "study/vc_load.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_table2(Figures& registry);

namespace {

enum Cause : std::size_t { kFairShare, kFragmentation, kCauses };
constexpr std::array<std::string_view, kCauses> kNames{"fair share", "fragmentation"};

struct Cell {
  double jobs = 0;
  double wait_s = 0;
};

Drawing draw_philly_table2(const Study& study) {
  std::array<std::array<Cell, kSizes.size()>, kCauses> cells{};
  for (const VcJobs& group : jobs_by_vc(study)) {
    const VcLoad load(study, group);
    for (const std::uint32_t at : group.jobs) {
      const trace::Job& job = study.job(at);
      const bool counts = job.request.gpus >= 2 && duration_of(job) >= 1min && wait_s(job) >= 60;
      if (!counts) continue;
      const bool full = load.free_before(job.request.submit) < job.request.gpus;
      Cell& cell = cells[full ? kFairShare : kFragmentation][size_of(job.request.gpus)];
      ++cell.jobs;
      cell.wait_s += wait_s(job);
    }
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption =
      "Jobs of 2 GPUs and more, running a minute or longer, that waited a minute or longer: "
      "fair share, when fewer GPUs of their virtual cluster were free at submission than "
      "they ask; fragmentation, when enough were free, in the wrong places.";
  auto& cause = figure.text("cause", "Cause");
  auto& size = figure.text("size", "Size");
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the size's", figure::Unit::fraction);
  auto& wait = figure.number("wait_s", "Waiting", figure::Unit::seconds);
  double count = 0;
  std::array<double, kCauses> waited{};
  for (std::size_t each = 1; each < kSizes.size(); ++each) {
    const double all = cells[kFairShare][each].jobs + cells[kFragmentation][each].jobs;
    if (all == 0) continue;
    count += all;
    for (std::size_t c = 0; c < kCauses; ++c) {
      waited[c] += cells[c][each].wait_s;
      cause.add(std::string(kNames[c]));
      size.add(std::string(kSizes[each]));
      jobs.add(cells[c][each].jobs);
      fraction.add(cells[c][each].jobs / all);
      wait.add(cells[c][each].wait_s);
    }
  }
  figure.n = static_cast<std::int64_t>(count);
  figure.charts.push_back(
      {.kind = "bar", .x = "size", .y = {"fraction"}, .by = "cause", .stacked = true});
  if (count == 0) return drawing;
  const double share = waited[kFragmentation] / (waited[kFairShare] + waited[kFragmentation]);
  drawing.findings.push_back(
      {.headline =
           fmt::format("{} of the waiting of jobs with several GPUs began while enough GPUs were "
                       "free.",
                       text::human_share(share)),
       .detail =
           "They were free in the wrong places, or kept for others. In Philly about 80 % of the "
           "waiting was of this kind.",
       .figure = {},
       .advice = share > 0.5
                     ? "Pack small jobs tightly, or move them, so that whole nodes stay free."
                     : "The virtual clusters are full: more GPUs, or other borders, would help."});
  return drawing;
}

}  // namespace

void register_philly_table2(Figures& registry) {
  registry.add({.id = "philly_table2",
                .title = "Why jobs wait",
                .source = "Jeon et al., ATC'19, Table 2",
                .part = Part::waiting,
                .needs = {Need::gpu_jobs, Need::start},
                .draw = draw_philly_table2});
}

}  // namespace almanac::study
