// SPDX-License-Identifier: Apache-2.0
#include "report/run_rates.h"

#include <algorithm>

#include "stats/percentiles.h"
#include "stats/quantile.h"

namespace almanac::report {
namespace {

constexpr std::size_t kMostListed = 20;

/// Keeps the greatest, greatest first; the earlier of equals.
void keep_most(std::vector<SlowedJob>& jobs) {
  const auto before = [](const SlowedJob& a, const SlowedJob& b) {
    if (a.lost_s != b.lost_s) return a.lost_s > b.lost_s;
    return a.stops != b.stops ? a.stops > b.stops : a.job < b.job;
  };
  const std::size_t most = std::min(kMostListed, jobs.size());
  std::partial_sort(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(most), jobs.end(),
                    before);
  jobs.resize(most);
}

void add_cpu_job(Rates& made, const SlowedJob& job) {
  CpuJobTotals& total = made.cpu;
  ++total.jobs;
  total.stops += job.stops;
  total.stopped += job.stops > 0 ? 1 : 0;
  total.throttled += job.pace.throttled_s > 0 ? 1 : 0;
  total.throttled_s += job.pace.throttled_s;
  total.cut_s += job.pace.cut_cpu_s;
  if (job.stops > 0 || job.lost_s > 0) made.gave_way.push_back(job);
}

}  // namespace

void RateTotals::add(int gpus, const sim::MeanPace& pace) {
  const perf::Parts& parts = pace.parts;
  double s = gpus * pace.ran_s;
  ++jobs;
  held_s += s;
  computing_s += s * parts.computing;
  core_s += pace.cpus * pace.ran_s;
  gpus_s += s *= parts.gpus;
  type_s += s *= parts.type;
  neighbours_s += s *= parts.neighbours;
  cpus_s += s *= parts.cpus;
  memory_s += s *= parts.memory;
  power_s += s *= parts.power;
  done_s += s * pace.bandwidth;
}

Rates rates_of(const RunInput& input, const sim::Schedule& schedule) {
  const Grouping& models = input.by(By::model);
  const bool has_paces = !schedule.pace_log.empty();
  Rates made;
  made.by_model.resize(models.names.size());
  std::vector<double> rates;
  for (std::uint32_t at = 0; at < schedule.jobs.size(); ++at) {
    const sim::JobResult result = schedule.jobs[at];
    if (result.start == kNoTime) continue;
    SlowedJob job{.job = at, .stops = result.preemptions};
    if (has_paces) job.pace = schedule.pace_log[at];
    const int gpus = input.trace().jobs[at].request.gpus;
    if (gpus == 0) {
      job.lost_s = job.pace.cut_cpu_s;
      add_cpu_job(made, job);
    } else if (job.pace.ran_s > 0) {
      made.all.add(gpus, job.pace);
      made.by_model[models.of_job[at]].add(gpus, job.pace);
      rates.push_back(job.pace.rate);
      job.lost_s = gpus * job.pace.ran_s * (1 - job.pace.rate);
      // What a page shows with two digits.
      if (job.pace.rate < 0.995) made.slowed.push_back(job);
    }
  }
  keep_most(made.slowed);
  keep_most(made.gave_way);
  std::sort(rates.begin(), rates.end());
  if (rates.empty()) return made;
  for (const double percent : stats::kPercentiles) {
    made.percentiles.push_back(stats::quantile_sorted(rates, percent / 100));
  }
  return made;
}

}  // namespace almanac::report
