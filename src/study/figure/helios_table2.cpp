// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job log, next to Helios and Philly.
///
/// Source   Hu et al., SC'21, Table 2: the mean number of GPUs and the durations are of GPU jobs; a
///          job's duration includes its retries.
#include <algorithm>
#include <array>
#include <limits>

#include "study/figures.h"

namespace almanac::study {

void register_helios_table2(Figures& registry);

namespace {

struct TraceRow {
  const char* trace;
  double vcs, jobs, gpu_jobs, cpu_jobs, days, mean_gpus, mean_duration_s, max_gpus, max_days;
};

constexpr std::array<TraceRow, 2> kPublishedTraces{
    {{"Helios, as published", 105, 3.36e6, 1.58e6, 1.78e6, 181, 3.72, 6652, 2048, 50},
     {"Philly, as published", 14, 103e3, 103e3, 0, 83, 1.75, 28329, 128, 60}}};
constexpr double kDay = 86400;

TraceRow row_of(const Study& study) {
  TraceRow row{"this log", 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::vector<bool> vcs(study.trace().names.size());
  const auto& jobs = study.trace().jobs;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const double duration_s = seconds(duration_of(job));
    vcs[index(job.request.vc)] = true;
    row.mean_gpus += job.request.gpus;
    row.mean_duration_s += duration_s;
    row.max_gpus = std::max<double>(row.max_gpus, job.request.gpus);
    row.max_days = std::max(row.max_days, duration_s / kDay);
  }
  vcs[index(kNoName)] = false;
  // Where no job names one, the log does not say how many there are.
  const auto named = std::count(vcs.begin(), vcs.end(), true);
  row.vcs = named > 0 ? static_cast<double>(named) : std::numeric_limits<double>::quiet_NaN();
  row.gpu_jobs = static_cast<double>(study.gpu_jobs().size());
  row.cpu_jobs = static_cast<double>(study.cpu_jobs().size());
  row.jobs = row.gpu_jobs + row.cpu_jobs;
  row.days = seconds(jobs.back().request.submit - jobs.front().request.submit) / kDay;
  // No GPU jobs leave NaN: nothing to take a mean of.
  row.mean_gpus /= row.gpu_jobs;
  row.mean_duration_s /= row.gpu_jobs;
  return row;
}

Drawing draw_helios_table2(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Jobs that never ran are left out. Durations include retries.";
  auto& name = figure.text("trace", "Trace");
  auto& vcs = figure.number("vcs", "Virtual clusters");
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& gpu_jobs = figure.number("gpu_jobs", "GPU jobs", figure::Unit::jobs);
  auto& cpu_jobs = figure.number("cpu_jobs", "CPU jobs", figure::Unit::jobs);
  auto& days = figure.number("days", "Days");
  auto& mean_gpus = figure.number("mean_gpus", "Mean GPUs", figure::Unit::gpus);
  auto& mean = figure.number("mean_duration_s", "Mean duration", figure::Unit::seconds);
  auto& max_gpus = figure.number("max_gpus", "Maximum GPUs", figure::Unit::gpus);
  auto& max_days = figure.number("max_duration_days", "Maximum duration, days");
  const TraceRow own = row_of(study);
  figure.n = static_cast<std::int64_t>(own.jobs);
  for (const TraceRow& row : {own, kPublishedTraces[0], kPublishedTraces[1]}) {
    name.add(std::string(row.trace));
    vcs.add(row.vcs);
    jobs.add(row.jobs);
    gpu_jobs.add(row.gpu_jobs);
    cpu_jobs.add(row.cpu_jobs);
    days.add(row.days);
    mean_gpus.add(row.mean_gpus);
    mean.add(row.mean_duration_s);
    max_gpus.add(row.max_gpus);
    max_days.add(row.max_days);
  }
  return drawing;
}

}  // namespace

void register_helios_table2(Figures& registry) {
  registry.add({.id = "helios_table2",
                .title = "Logs compared",
                .source = "Hu et al., SC'21, Table 2",
                .part = Part::literature,
                .needs = {},
                .draw = draw_helios_table2});
}

}  // namespace almanac::study
