// SPDX-License-Identifier: Apache-2.0

/// \file
/// The measures of Helios' own summary of its clusters, next to those clusters.
///
/// Source   helios_cluster_summary.csv of the HeliosData release (Hu et al., SC'21).
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "stats/quantile.h"
#include "study/duration_cdf.h"
#include "study/figures.h"

namespace almanac::study {

void register_helios_table_summary(Figures& registry);

namespace {

using stats::kNaN;

/// A measure, its name in the release, its unit as documents spell it, and its published values:
/// Venus, Earth, Saturn, Uranus, all.
struct SummaryRow {
  const char* measure;
  const char* name;
  const char* unit;
  std::array<double, 5> published;
};

constexpr std::array<SummaryRow, 19> kRows{{
    {"Jobs", "job_num", "jobs", {246708, 872886, 1753078, 490309, 3362981}},
    {"CPU jobs", "cpu_job_num", "jobs", {121405, 445738, 1054182, 161192, 1782517}},
    {"GPU jobs", "gpu_job_num", "jobs", {125303, 427148, 698896, 329117, 1580464}},
    {"Mean run time of CPU jobs",
     "avg_run_time_cpu",
     "s",
     {1649.859, 162.73, 619.062, 1211.799, 628.759}},
    {"Mean run time of GPU jobs",
     "avg_run_time_gpu",
     "s",
     {13040.598, 5130.609, 5252.927, 9163.725, 6651.681}},
    {"Mean wait of CPU jobs", "avg_que_time_cpu", "s", {773.009, 3.281, 16.255, 119.704, 73.907}},
    {"Mean wait of GPU jobs",
     "avg_que_time_gpu",
     "s",
     {1253.288, 319.483, 611.561, 1949.182, 862.047}},
    {"Mean GPUs per GPU job", "avg_gpu_num", "", {6.736, 2.101, 4.01, 4.038, 3.716}},
    {"Median run time of CPU jobs", "med_run_time_cpu", "s", {21, 1, 2, 32, 2}},
    {"Median run time of GPU jobs", "med_run_time_gpu", "s", {204, 234, 124, 280, 206}},
    {"Completed CPU jobs", "complete_rate_cpu", "fraction", {.860, .885, .943, .791, .909}},
    {"Cancelled CPU jobs", "cancel_rate_cpu", "fraction", {.097, .005, .019, .116, .030}},
    {"Failed CPU jobs", "fail_rate_cpu", "fraction", {.043, .110, .037, .092, .061}},
    {"Completed GPU jobs", "complete_rate_gpu", "fraction", {.526, .735, .582, .607, .624}},
    {"Cancelled GPU jobs", "cancel_rate_gpu", "fraction", {.272, .136, .272, .201, .221}},
    {"Failed GPU jobs", "fail_rate_gpu", "fraction", {.202, .129, .145, .192, .155}},
    {"GPU time of completed jobs",
     "complete_gpu_time",
     "gpu_s",
     {6373315670, 5713038873, 14375709962, 13532231815, 39994296320}},
    {"GPU time of cancelled jobs",
     "cancel_gpu_time",
     "gpu_s",
     {4920266598, 4793853520, 10733792235, 10267196772, 30715109125}},
    {"GPU time of failed jobs",
     "fail_gpu_time",
     "gpu_s",
     {1052030340, 932310362, 2542859066, 2761134934, 7288334702}},
}};

struct Means {
  double run = kNaN, wait = kNaN, median = kNaN, gpus = kNaN;
  std::array<double, kEndings.size()> rate{kNaN, kNaN, kNaN, kNaN, kNaN};
  std::array<double, kEndings.size()> time{kNaN, kNaN, kNaN, kNaN, kNaN};
};

Means means_of(const Study& study, std::span<const std::uint32_t> jobs) {
  Means means;
  if (jobs.empty()) return means;
  const std::vector<double> durations = sorted_durations(study, jobs);
  double run = 0, wait = 0, waits = 0, gpus = 0, known = 0;
  std::array<double, kEndings.size()> count{}, time{};
  for (const double duration : durations) run += duration;
  for (const std::uint32_t at : jobs) {
    const trace::Job& job = study.job(at);
    gpus += job.request.gpus;
    if (const double own = wait_s(job); !std::isnan(own)) {
      wait += own;
      ++waits;
    }
    const auto ending = ending_of(job);
    if (!ending) continue;
    ++known;
    ++count[static_cast<std::size_t>(*ending)];
    time[static_cast<std::size_t>(*ending)] += gpu_time(job);
  }
  means.run = run / static_cast<double>(jobs.size());
  means.gpus = gpus / static_cast<double>(jobs.size());
  means.wait = waits > 0 ? wait / waits : kNaN;
  means.median = stats::quantile_sorted(durations, 0.5);
  if (known == 0) return means;
  for (std::size_t each = 0; each < kEndings.size(); ++each) {
    means.rate[each] = count[each] / known;
    means.time[each] = time[each];
  }
  return means;
}

Drawing draw_helios_table_summary(const Study& study) {
  const Means gpu = means_of(study, study.gpu_jobs());
  const Means cpu = means_of(study, study.cpu_jobs());
  const auto gpu_jobs = static_cast<double>(study.gpu_jobs().size());
  const auto cpu_jobs = static_cast<double>(study.cpu_jobs().size());
  const std::array<double, kRows.size()> own{gpu_jobs + cpu_jobs,
                                             cpu_jobs,
                                             gpu_jobs,
                                             cpu.run,
                                             gpu.run,
                                             cpu.wait,
                                             gpu.wait,
                                             gpu.gpus,
                                             cpu.median,
                                             gpu.median,
                                             cpu.rate[0],
                                             cpu.rate[1],
                                             cpu.rate[2],
                                             gpu.rate[0],
                                             gpu.rate[1],
                                             gpu.rate[2],
                                             gpu.time[0],
                                             gpu.time[1],
                                             gpu.time[2]};
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(gpu_jobs + cpu_jobs);
  figure.caption =
      "Shares of the jobs whose final state is known. Jobs that timed out or were preempted are in "
      "none of the three states here; the published columns count them as failed. Names are those "
      "of the HeliosData release.";
  auto& measure = figure.text("measure", "Measure");
  auto& name = figure.text("name", "Name");
  name.detail = true;
  auto& unit = figure.text("unit", "Unit");
  auto& here = figure.number("this_trace", "This log");
  here.units = unit.name;
  std::array<figure::Column*, 5> published{
      &figure.number("venus", "Venus"), &figure.number("earth", "Earth"),
      &figure.number("saturn", "Saturn"), &figure.number("uranus", "Uranus"),
      &figure.number("helios", "Helios, all")};
  for (figure::Column* const each : published) each->units = unit.name;
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    measure.add(std::string(kRows[row].measure));
    name.add(std::string(kRows[row].name));
    unit.add(std::string(kRows[row].unit));
    here.add(own[row]);
    for (std::size_t at = 0; at < published.size(); ++at) {
      published[at]->add(kRows[row].published[at]);
    }
  }
  return drawing;
}

}  // namespace

void register_helios_table_summary(Figures& registry) {
  registry.add({.id = "helios_table_summary",
                .title = "Summary of the logs",
                .source = "Hu et al., SC'21, HeliosData cluster summary",
                .part = Part::literature,
                .needs = {},
                .draw = draw_helios_table_summary});
}

}  // namespace almanac::study
