// SPDX-License-Identifier: Apache-2.0
#include "experiment/experiment.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "policy/recommended.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "script/scripted.h"

namespace almanac::experiment {

std::vector<std::string> quick_policies() {
  return {policy::kRecommended, "fifo", "easy", "las", "srtf"};
}

std::vector<std::string> all_policies() {
  std::vector<std::string> names;
  for (const policy::Composition& known : policy::registry().policies()) {
    names.push_back(known.name);
  }
  for (const std::string_view first : {"fifo", policy::kRecommended}) {
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return name == first; });
  }
  return names;
}

void scale_load(trace::Trace& trace, double load) {
  if (load == 1 || trace.jobs.empty()) return;
  const Time first = trace.jobs.front().request.submit;
  for (trace::Job& job : trace.jobs) {
    const auto since = static_cast<double>((job.request.submit - first).count());
    job.request.submit = first + Duration{std::llround(since / load)};
    job.request.submitted = kNoTime;
    job.outcome.start = job.outcome.end = kNoTime;  // those were of another load
  }
}

sim::Options options_of(const Prepared& prepared, std::size_t run) {
  const Prepared::Run& chosen = prepared.runs[run];
  const energy::PowerModel& power = prepared.power;
  return {
      .policy = chosen.composition.name,
      .restart = chosen.restart,
      .nodes = {.boot = Duration{std::llround(power.boot_s * 1e3)},
                .least_sleep = Duration{std::llround(power.least_sleep_s() * 1e3)}},
      .seed = prepared.experiment.seed,
      .truth = {.speeds = prepared.speeds.get(),
                .applications = prepared.applications.empty() ? nullptr : &prepared.applications},
      .believed = prepared.believed.get(),
      .incidents = prepared.incidents.get(),
      .failures = prepared.failures.get(),
      .warm_up = prepared.experiment.warm_up,
      .timeline_interval = prepared.experiment.timeline_interval};
}

Result<sim::Schedule> simulate_run(const Prepared& prepared, std::size_t run,
                                   const std::atomic<bool>* stop,
                                   std::atomic<std::uint32_t>* arrived, JobId watched,
                                   bool log_waits) {
  const auto policy = make_policy(prepared.runs[run], prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  sim::Options options = options_of(prepared, run);
  options.watch.stop = stop;
  options.watch.arrived = arrived;
  options.watch.job = watched;
  options.watch.log_waits = log_waits;
  try {
    sim::Schedule schedule = sim::simulate(prepared.trace, prepared.cluster, **policy, options);
    if (const auto& talk = prepared.runs[run].talk) script::say_over(*talk);
    return schedule;
  } catch (const script::Broken& broken) {
    return tl::unexpected(broken.error);
  }
}

}  // namespace almanac::experiment
