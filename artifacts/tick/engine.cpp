// SPDX-License-Identifier: Apache-2.0
#include "tick/engine.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace almanac::elastic {
namespace {

constexpr std::int64_t kLatest_s = std::int64_t{3} * 366 * 86'400;

/// GPUs of each node, in the order of the ring.
std::vector<int> ring(const Shares& shares) {
  std::vector<int> gpus;
  for (const NodeShare& share : shares) gpus.push_back(share.gpus);
  return gpus;
}

void split_anew(TickState& job) {
  const Application& application = *job.job->application;
  const int gpus = count_gpus(job.shares);
  if (job.fixed_batch) {
    job.split = split_batch(application, gpus, *job.fixed_batch);
  } else if (!job.model) {
    job.split = split_batch(
        application, gpus, std::max(application.initial_batch, application.min_local_batch * gpus));
  } else {
    job.split = best_goodput(*job.model, job.gradient, application,
                             static_cast<int>(job.shares.size()), gpus)
                    .split;
  }
  job.split = within_max_batch(application, gpus, job.split);
}

void report(TickState& job, const Observation& now, Gradient gradient) {
  job.gradient = gradient;
  for (const Observation& each : job.seen) {
    if (each.nodes == now.nodes && each.gpus == now.gpus && each.atomic_batch == now.atomic_batch) {
      return;
    }
  }
  job.seen.push_back(now);
  job.model = fit_steps(job.seen);
}

/// Lets a job run for `left_s`, at `speed` of what it would do alone.
Result<void> advance(TickState& job, std::int64_t left_s, double speed, bool learns) {
  if (job.shares.empty()) {
    job.clock_s += left_s;
    return {};
  }
  const Application& application = *job.job->application;
  const int gpus = count_gpus(job.shares);
  const std::vector<int> gpus_by_node = ring(job.shares);
  const auto spend = [&](std::int64_t seconds) {
    job.clock_s += seconds;
    job.attained_gpu_s += seconds * gpus;
    left_s -= seconds;
  };
  const std::int64_t restart_s = std::min(job.restart_left_s, left_s);
  job.restart_left_s -= restart_s;
  spend(restart_s);
  while (left_s > 0 && !job.completed_s) {
    const double batch = static_cast<double>(gpus) * job.split.local_batch();
    const auto time = application.steps.at(gpus_by_node, job.split.atomic_batch);
    if (!time || !application.covers(batch) || !(time->step_s > 0)) {
      return fail(
          Code::unsupported,
          fmt::format("job {}: {} was not measured on {} GPUs of {} nodes with {} samples a "
                      "GPU and a batch of {}",
                      job.job->name, application.name, gpus, gpus_by_node.size(),
                      job.split.atomic_batch, batch));
    }
    const Gradient gradient = application.gradient(batch, job.epochs);
    if (learns) {
      report(job,
             {.nodes = static_cast<int>(gpus_by_node.size()),
              .gpus = gpus,
              .atomic_batch = job.split.atomic_batch,
              .time = *time},
             gradient);
    }
    const double gain = step_gain(gradient, batch, application.initial_batch);
    const double rate = gain / step_seconds(*time, job.split.accumulations) * speed;
    const double next = application.progress_after(job.epochs + 1);
    if (job.progress + rate * static_cast<double>(left_s) < next) {
      job.progress += rate * static_cast<double>(left_s);
      spend(left_s);
    } else {
      ++job.epochs;
      // Half a second goes to the even one: the rounding mode of the program's language.
      const auto until = static_cast<std::int64_t>(std::nearbyint((next - job.progress) / rate));
      job.progress = next;
      spend(until);
      if (job.epochs > application.completion_epoch) job.completed_s = job.clock_s;
    }
    split_anew(job);
  }
  job.clock_s += left_s;
  return {};
}

/// How many jobs that run on several nodes run on each.
std::vector<int> spread_jobs(std::span<const TickState> jobs, int nodes) {
  std::vector<int> count(static_cast<std::size_t>(nodes), 0);
  for (const TickState& job : jobs) {
    if (job.completed_s || job.shares.size() < 2) continue;
    for (const NodeShare& share : job.shares) ++count[static_cast<std::size_t>(share.node)];
  }
  return count;
}

double speed(const TickState& job, const std::vector<int>& spread, double interference) {
  if (job.shares.size() < 2) return 1;
  const bool meets = std::any_of(job.shares.begin(), job.shares.end(), [&](const NodeShare& share) {
    return spread[static_cast<std::size_t>(share.node)] > 1;
  });
  return meets ? 1 - interference : 1;
}

void give(TickState& job, Shares shares, int restart_s) {
  if (job.shares == shares) return;
  job.shares = std::move(shares);
  if (job.shares.empty()) return;
  split_anew(job);
  job.restart_left_s = restart_s;
  ++job.starts;
}

}  // namespace

int count_gpus(const Shares& shares) {
  int gpus = 0;
  for (const NodeShare& share : shares) gpus += share.gpus;
  return gpus;
}

int TickState::most_gpus_seen() const {
  int most = 0;
  for (const Observation& each : seen) most = std::max(most, each.gpus);
  return most;
}

Result<std::vector<std::int64_t>> run_ticks(std::span<const TickJob> workload,
                                            const TickOptions& options, TickPolicy& policy) {
  std::vector<TickState> jobs;
  for (const TickJob& job : workload) {
    jobs.push_back({.job = &job, .fixed_batch = policy.fixed_batch(job)});
  }
  std::size_t left = jobs.size();
  std::vector<std::size_t> candidates;
  for (std::int64_t now_s = 0; left > 0;) {
    if (now_s > kLatest_s) return fail(Code::unsupported, "some jobs never end");
    const std::vector<int> spread = spread_jobs(jobs, options.nodes);
    for (TickState& job : jobs) {
      if (job.completed_s) continue;
      const auto done =
          advance(job, options.tick_s, speed(job, spread, options.interference), policy.learns());
      if (!done) return tl::unexpected(done.error());
      if (job.completed_s) --left;
    }
    now_s += options.tick_s;
    candidates.clear();
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (jobs[job].job->submit_s <= now_s && !jobs[job].completed_s) candidates.push_back(job);
    }
    if (candidates.empty()) continue;
    std::vector<Shares> given = policy.allocate(now_s, candidates, jobs, options);
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      give(jobs[candidates[at]], std::move(given[at]), options.restart_s);
    }
  }
  std::vector<std::int64_t> jcts;
  for (const TickState& job : jobs) jcts.push_back(*job.completed_s - job.job->submit_s);
  return jcts;
}

}  // namespace almanac::elastic
