// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/slow.h"

namespace almanac::oracle {
namespace {

struct TickJob {
  JobId id{};
  std::int64_t submit = 0;
  std::int64_t remain = 0;
  int gpus = 0;
  std::int64_t since = 0;
  std::vector<std::pair<std::size_t, int>> nodes{};  // node and GPUs
};

std::int64_t overhead(int gpus) {
  if (gpus == 1) return 7;
  return gpus <= 8 ? 30 : 60;
}

/// The artifact's `consolidate` placer.
std::vector<std::pair<std::size_t, int>> consolidate(int gpus, const std::vector<int>& free,
                                                     int size) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < free.size(); ++node) {
    if (free[node] > 0) nodes.push_back(node);
  }
  const bool small = gpus <= size;
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::size_t a, std::size_t b) {
    return small ? free[a] < free[b] : free[a] > free[b];
  });
  std::vector<std::pair<std::size_t, int>> taken;
  for (const std::size_t node : nodes) {
    const int piece = std::min(gpus, size);
    if (free[node] < piece) {
      if (small) continue;
      return {};
    }
    taken.emplace_back(node, piece);
    gpus -= piece;
    if (gpus == 0) return taken;
  }
  return {};
}

}  // namespace

std::vector<Run> helios_srtf(const Case& input, VcId vc) {
  const cluster::VirtualCluster& home = input.cluster.vcs[index(vc)];
  const int size = input.cluster.gpus(home.first);
  std::vector<int> free(home.num_nodes, size);
  std::vector<TickJob> jobs;
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    const trace::Job& asked = input.trace.jobs[job];
    if (input.cluster.find_vc(input.trace.names[asked.request.vc]) != vc) continue;
    jobs.push_back({.id = JobId{job},
                    .submit = asked.request.submit.time_since_epoch() / 1s,
                    .remain = asked.outcome.run / 1s,
                    .gpus = asked.request.gpus});
  }
  std::vector<Run> runs;
  std::vector<TickJob*> waiting;
  std::vector<TickJob*> running;
  std::size_t ended = 0;
  const auto leave = [&](TickJob& job, std::int64_t now) {
    Run run{.job = job.id, .start = Time{job.since * 1s}, .end = Time{now * 1s}};
    for (const auto& [node, gpus] : job.nodes) {
      free[node] += gpus;
      run.grants.push_back({.node = NodeId{static_cast<std::uint32_t>(index(home.first) + node)},
                            .gpus = (cluster::GpuMask{1} << gpus) - 1});
    }
    runs.push_back(run);
    std::erase(running, &job);
  };
  for (std::int64_t now = 0; ended < jobs.size(); ++now) {
    for (TickJob* job : std::vector(running)) {
      if (job->remain == 0) {
        ++ended;
        leave(*job, now);
      } else {
        job->remain -= 1;
      }
    }
    for (TickJob& job : jobs) {
      if (job.submit == now) waiting.push_back(&job);
    }
    std::vector<TickJob*> current = waiting;
    current.insert(current.end(), running.begin(), running.end());
    std::stable_sort(current.begin(), current.end(),
                     [](const TickJob* a, const TickJob* b) { return a->remain < b->remain; });
    int quota = size * static_cast<int>(home.num_nodes);
    std::vector<TickJob*> to_run;
    std::vector<TickJob*> to_stop;
    for (TickJob* job : current) {
      const bool runs_now = std::find(running.begin(), running.end(), job) != running.end();
      if (job->gpus <= quota) {
        quota -= job->gpus;
        if (!runs_now) to_run.push_back(job);
      } else if (runs_now) {
        to_stop.push_back(job);
      }
    }
    for (TickJob* job : to_stop) {
      job->remain += overhead(job->gpus);
      leave(*job, now);
      waiting.push_back(job);
    }
    for (TickJob* job : to_run) {
      job->nodes = consolidate(job->gpus, free, size);
      if (job->nodes.empty()) continue;
      for (const auto& [node, gpus] : job->nodes) free[node] -= gpus;
      job->since = now;
      std::erase(waiting, job);
      running.push_back(job);
    }
  }
  return runs;
}

}  // namespace almanac::oracle
