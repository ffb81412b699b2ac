// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that start before an earlier submitted one, and how many of them did no harm.
///
/// Source   Jeon et al., ATC'19, section 3.1.1. A start is out of order if an earlier job of the
///          virtual cluster still waits. Of these jobs, the one that has waited the longest is the
///          job that was passed. The start did no harm if that job would not have fitted even with
///          the GPUs of the starting job, at any time until one of the two events: the passed job
///          started, or the other ended. The paper does not say how it decided that.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/size_bucket.h"
#include "study/vc_load.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_out_of_order(Figures& registry);

namespace {

struct Counts {
  double starts_past = 0;
  double harmless = 0;
  double waited = 0;
  double overtaken = 0;
  double jobs = 0;
  double wait_s = 0;
  double mean_wait_s() const { return jobs > 0 ? wait_s / jobs : 0; }
};

using CountsOfSizes = std::array<Counts, kSizes.size()>;

void count(const Study& study, const VcJobs& group, CountsOfSizes& sizes) {
  const VcLoad load(study, group);
  const auto start = [&](std::size_t at) { return study.job(group.jobs[at]).outcome.start; };
  const std::size_t jobs = group.jobs.size();
  std::vector<std::uint32_t> by_start(jobs);
  for (std::uint32_t at = 0; at < jobs; ++at) by_start[at] = at;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); });
  std::vector<bool> overtaken(jobs);
  std::size_t first = 0;  // the earliest job that has not started yet
  for (std::size_t next = 0; next < jobs; ++next) {
    const Time now = start(by_start[next]);
    while (first < jobs && start(first) <= now) ++first;
    const std::size_t own = by_start[next];
    if (first >= own) continue;
    const trace::Job& waiting = study.job(group.jobs[first]);
    const trace::Job& starting = study.job(group.jobs[own]);
    if (waiting.request.submit >= starting.request.submit) continue;
    Counts& counts = sizes[size_of(waiting.request.gpus)];
    ++counts.starts_past;
    overtaken[first] = true;
    const Time until = std::min(waiting.outcome.start, now + duration_of(starting));
    const int without = load.most_free(now, until) + starting.request.gpus;
    if (without < waiting.request.gpus) ++counts.harmless;
  }
  for (std::size_t at = 0; at < jobs; ++at) {
    const trace::Job& job = study.job(group.jobs[at]);
    Counts& counts = sizes[size_of(job.request.gpus)];
    if (wait_s(job) > 0) ++counts.waited;
    ++counts.jobs;
    counts.wait_s += wait_s(job);
    if (overtaken[at]) ++counts.overtaken;
  }
}

Drawing draw_philly_out_of_order(const Study& study) {
  CountsOfSizes sizes{};
  double starts = 0;
  for (const VcJobs& group : jobs_by_vc(study)) {
    count(study, group, sizes);
    starts += static_cast<double>(group.jobs.size());
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(starts);
  figure.caption =
      "Starts past a job that was submitted earlier and still waited, by the size of that "
      "job. Harmless: it would not have fitted even with the GPUs so taken.";
  auto& size = figure.text("size", "Size of the job that waits");
  auto& waited = figure.number("jobs_that_waited", "Jobs that waited", figure::Unit::jobs);
  auto& overtaken = figure.number("jobs_overtaken", "Jobs overtaken", figure::Unit::jobs);
  auto& past = figure.number("starts_past", "Starts past them", figure::Unit::jobs);
  auto& harmless = figure.number("harmless", "Harmless of these", figure::Unit::jobs);
  auto& fraction = figure.number("harmless_fraction", "Harmless", figure::Unit::fraction);
  Counts all;
  for (std::size_t each = 0; each < kSizes.size(); ++each) {
    const Counts& counts = sizes[each];
    all.waited += counts.waited;
    all.overtaken += counts.overtaken;
    all.starts_past += counts.starts_past;
    all.harmless += counts.harmless;
    size.add(std::string(kSizes[each]));
    waited.add(counts.waited);
    overtaken.add(counts.overtaken);
    past.add(counts.starts_past);
    harmless.add(counts.harmless);
    fraction.add(counts.harmless / counts.starts_past);
  }
  figure.charts.push_back({.kind = "bar", .x = "size", .y = {"starts_past", "harmless"}});
  if (all.starts_past == 0) return drawing;
  figure::Finding finding{.headline = fmt::format("{} of the starts were out of order",
                                                  text::human_share(all.starts_past / starts))};
  if (study.cluster().inferred) {
    finding.detail = fmt::format(
        "About {} of these did no harm: an estimate, because the number of free GPUs "
        "is inferred.",
        text::human_share(all.harmless / all.starts_past));
  } else {
    finding.headline +=
        fmt::format("; {} of these did no harm", text::human_share(all.harmless / all.starts_past));
    const Counts& one = sizes.front();
    const Counts& large = sizes.back();
    constexpr double kEnough = 20;
    const bool hold_up_large = large.starts_past - large.harmless >= kEnough &&
                               large.harmless < large.starts_past / 2 && one.jobs >= kEnough &&
                               large.mean_wait_s() > 2 * one.mean_wait_s();
    if (hold_up_large) {
      finding.detail =
          fmt::format("Mean wait: {} for jobs with more than 8 GPUs, {} for single-GPU jobs.",
                      text::human_time(large.mean_wait_s()), text::human_time(one.mean_wait_s()));
      finding.advice =
          "Use a policy with reservations (easy, conservative), so that large jobs are not "
          "overtaken forever.";
    }
  }
  finding.headline += ".";
  finding.published =
      "Philly: 38 % of the decisions were out of order, and 85 % of those that overtook large jobs "
      "used GPUs that the large jobs could not.";
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_philly_out_of_order(Figures& registry) {
  registry.add({.id = "philly_out_of_order",
                .title = "Starts out of order",
                .source = "Jeon et al., ATC'19, section 3.1.1",
                .part = Part::waiting,
                .needs = {Need::gpu_jobs, Need::start},
                .draw = draw_philly_out_of_order});
}

}  // namespace almanac::study
