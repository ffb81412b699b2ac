// SPDX-License-Identifier: Apache-2.0
#include "sim/infer_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace almanac::sim {
namespace {

constexpr double kTargetOccupancy = 0.85;

struct Edge {
  Time at{};
  int gpus = 0;
};

/// What the jobs of one virtual cluster ask.
struct VcDemand {
  int largest = 0;
  double gpu_s = 0;
  std::vector<Edge> edges;  // recorded starts and ends

  int most_at_once() {
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return a.at != b.at ? a.at < b.at : a.gpus < b.gpus;
    });
    int now = 0;
    int most = 0;
    for (const Edge& edge : edges) most = std::max(most, now += edge.gpus);
    return most;
  }
};

int gpus_per_node(const trace::Trace& trace) {
  int most = 0;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.nodes > 0) {
      most = std::max(most, (job.request.gpus + job.request.nodes - 1) / job.request.nodes);
    }
  }
  return most > 0 && most <= cluster::kMaxGpusPerNode ? most : 8;
}

}  // namespace

Result<cluster::Cluster> infer_cluster(const trace::Trace& trace) {
  std::map<std::string, VcDemand, std::less<>> vcs;
  std::size_t jobs = 0;
  std::size_t with_vc = 0;
  std::size_t with_start = 0;
  Time first = kNever;
  Time last = Time::min();
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus == 0) continue;
    ++jobs;
    with_vc += job.request.vc != kNoName ? 1 : 0;
    with_start += job.outcome.start != kNoTime ? 1 : 0;
    first = std::min(first, job.request.submit);
    last = std::max(last, job.request.submit);
  }
  if (jobs == 0) return fail(Code::invalid, "no job asks a GPU", {.file = trace.path});
  const bool by_vc = 2 * with_vc >= jobs;
  const bool recorded = 2 * with_start >= jobs;
  for (const trace::Job& job : trace.jobs) {
    const int gpus = job.request.gpus;
    if (gpus == 0) continue;
    std::string_view vc = "all";
    if (by_vc) vc = job.request.vc == kNoName ? cluster::kUnnamedVc : trace.names[job.request.vc];
    VcDemand& demand = vcs.try_emplace(std::string(vc)).first->second;
    demand.largest = std::max(demand.largest, gpus);
    demand.gpu_s += gpus * seconds(job.outcome.run);
    if (recorded && job.outcome.start != kNoTime) {
      demand.edges.push_back({job.outcome.start, gpus});
      demand.edges.push_back({job.outcome.start + job.outcome.run, -gpus});
    }
  }

  cluster::Cluster made;
  made.takes_every_job = !by_vc;
  const int per_node = gpus_per_node(trace);
  const double span_s = std::max(1.0, seconds(last - first));
  for (auto& [name, demand] : vcs) {
    const double enough = recorded ? demand.most_at_once() : demand.gpu_s / span_s / kTargetOccupancy;
    const double gpus = std::max<double>(enough, demand.largest);
    made.add_vc(name);
    made.add_nodes({.gpus = per_node}, static_cast<std::uint32_t>(std::ceil(gpus / per_node)));
  }
  made.notes.push_back(fmt::format(
      "cluster inferred from the trace: {} nodes x {} GPUs, {}, {}; give --cluster to change it",
      made.nodes.size(), per_node,
      by_vc ? fmt::format("{} virtual clusters", made.vcs.size()) : "one virtual cluster",
      recorded ? "as many as ever ran at once" : "sized for 85 % occupancy"));
  return made;
}

}  // namespace almanac::sim
