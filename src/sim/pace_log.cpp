// SPDX-License-Identifier: Apache-2.0
#include "sim/pace_log.h"

#include <algorithm>
#include <cmath>

namespace almanac::sim {
namespace {

/// Cores that a CPU job asks and does not hold.
double cut_of(const trace::Request& request, std::int32_t held_milli) {
  // Admission assumes a core for each task if the job does not say.
  const double asked = std::isnan(request.cpus) ? std::max(1, request.nodes) : double{request.cpus};
  return std::max(0, cluster::cpu_milli(asked) - held_milli) / 1e3;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }

}  // namespace

PaceLog::PaceLog(const trace::Trace& trace)
    : trace_(&trace), jobs_(trace.jobs.size()), stretches_(trace.jobs.size()) {}

void PaceLog::open(JobId job, std::span<const cluster::Grant> held, const perf::Parts& parts,
                   const policy::Pace& alone, double done_ms, Time now) {
  const trace::Request& request = trace_->jobs[index(job)].request;
  std::int32_t held_milli = 0;
  for (const cluster::Grant& grant : held) held_milli += grant.cpu_milli;
  Stretch& stretch = stretches_[index(job)];
  stretch.since = now;
  stretch.done_ms = done_ms;
  Sums& each = stretch.each;
  double product = 1;
  const auto times = [&](double part) { return static_cast<float>(product *= part); };
  each.gpus = times(parts.gpus);
  each.type = times(parts.type);
  each.neighbours = times(parts.neighbours);
  each.cpus = times(parts.cpus);
  each.memory = times(parts.memory);
  each.alone = static_cast<float>(alone.rate);
  each.held_cpus = static_cast<float>(held_milli / 1e3);
  stretch.computing = static_cast<float>(alone.computing / alone.rate);
  stretch.cut_cpus = request.gpus > 0 ? 0 : static_cast<float>(cut_of(request, held_milli));
}

void PaceLog::close(JobId job, double done_ms, Time now) {
  const Stretch& stretch = stretches_[index(job)];
  Job& sum = jobs_[index(job)];
  const auto ms = static_cast<double>((now - stretch.since).count());
  const double done = done_ms - stretch.done_ms;
  const auto add = [&](float Sums::*field) {
    sum.sums.*field += static_cast<float>(stretch.each.*field * ms);
  };
  for (float Sums::*const field : {&Sums::gpus, &Sums::type, &Sums::neighbours, &Sums::cpus,
                                   &Sums::memory, &Sums::alone, &Sums::held_cpus}) {
    add(field);
  }
  sum.ms += ms;
  sum.done_ms += done;
  sum.computing_ms += stretch.computing * done;
  if (stretch.cut_cpus > 0) sum.throttled_ms += ms;
  sum.cut_cpu_ms += stretch.cut_cpus * ms;
}

MeanPace PaceLog::operator[](std::size_t job) const {
  const Job& sum = jobs_[job];
  if (sum.ms == 0) return {};
  const Sums& sums = sum.sums;
  return {.ran_s = sum.ms / 1e3,
          .rate = sum.done_ms / sum.ms,
          .parts = {.gpus = sums.gpus / sum.ms,
                    .type = ratio(sums.type, sums.gpus),
                    .neighbours = ratio(sums.neighbours, sums.type),
                    .cpus = ratio(sums.cpus, sums.neighbours),
                    .memory = ratio(sums.memory, sums.cpus),
                    .power = ratio(sums.alone, sums.memory),
                    .computing = sum.computing_ms / sum.ms},
          .bandwidth = ratio(sum.done_ms, sums.alone),
          .cpus = sums.held_cpus / sum.ms,
          .throttled_s = sum.throttled_ms / 1e3,
          .cut_cpu_s = sum.cut_cpu_ms / 1e3};
}

}  // namespace almanac::sim
