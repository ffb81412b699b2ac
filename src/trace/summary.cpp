// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/quantile.h"
#include "trace/eligible.h"

namespace almanac::trace {
namespace {

Spread spread_of(std::vector<double>& values) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {0, kNaN, kNaN, kNaN, kNaN, kNaN};
  Spread spread;
  spread.count = static_cast<std::int64_t>(values.size());
  spread.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spread.p50 = stats::quantile(values, 0.5);
  spread.p90 = stats::quantile(values, 0.9);
  spread.p99 = stats::quantile(values, 0.99);
  spread.max = *std::max_element(values.begin(), values.end());
  return spread;
}

/// Gathers a HostUse.
class Hosts {
 public:
  void add(const Job& job) {
    if (!std::isnan(job.request.cpus)) {
      cpus_.push_back(static_cast<double>(job.request.cpus));
      use_.core_time_s += cpus_.back() * seconds(job.outcome.run);
    }
    if (!std::isnan(job.request.memory_gb)) {
      memory_gb_.push_back(static_cast<double>(job.request.memory_gb));
    }
  }
  HostUse result() {
    use_.cpus = spread_of(cpus_);
    use_.memory_gb = spread_of(memory_gb_);
    return use_;
  }

 private:
  HostUse use_;
  std::vector<double> cpus_;
  std::vector<double> memory_gb_;
};

}  // namespace

Summary summarize(const Trace& trace) {
  Summary summary;
  std::vector<double> runs, waits, gpus, cpu_runs;
  Hosts gpu_hosts, cpu_hosts;
  std::vector<bool> users(trace.names.size()), vcs(trace.names.size());
  for (const Job& job : trace.jobs) {
    const Request& request = job.request;
    const Outcome& outcome = job.outcome;
    ++summary.jobs;
    ++summary.states[static_cast<std::size_t>(outcome.state)];
    users[index(request.user)] = true;
    vcs[index(request.vc)] = true;
    summary.gpu_jobs += request.gpus > 0 ? 1 : 0;
    if (never_ran(job)) {
      ++summary.never_ran;
      continue;
    }
    (request.gpus > 0 ? gpu_hosts : cpu_hosts).add(job);
    if (request.gpus == 0) {
      cpu_runs.push_back(seconds(outcome.run));
      continue;
    }
    summary.gpu_time_gpu_s += static_cast<double>(request.gpus) *
                              static_cast<double>(request.gpu_share) * seconds(outcome.run);
    runs.push_back(seconds(outcome.run));
    gpus.push_back(request.gpus);
    if (outcome.start != kNoTime) waits.push_back(seconds(outcome.start - request.submit));
  }
  users[index(kNoName)] = vcs[index(kNoName)] = false;
  summary.users = std::count(users.begin(), users.end(), true);
  summary.vcs = std::count(vcs.begin(), vcs.end(), true);
  if (!trace.jobs.empty()) {
    summary.first_submit = summary.last_submit = submission(trace.jobs.front().request);
  }
  // The jobs are in the order in which they joined the queue.
  for (const Job& job : trace.jobs) {
    summary.first_submit = std::min(summary.first_submit, submission(job.request));
    summary.last_submit = std::max(summary.last_submit, submission(job.request));
  }
  summary.run_s = spread_of(runs);
  summary.wait_s = spread_of(waits);
  summary.gpus = spread_of(gpus);
  summary.gpu_hosts = gpu_hosts.result();
  summary.cpu_run_s = spread_of(cpu_runs);
  summary.cpu_hosts = cpu_hosts.result();
  return summary;
}

}  // namespace almanac::trace
