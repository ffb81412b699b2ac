// SPDX-License-Identifier: Apache-2.0
#include "sim/infer_cluster.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::sim {
namespace {

/// Without recorded starts: the share of the time in which every job could run at once.
constexpr double kShareOfTime = 0.9;

struct Edge {
  Time at{};
  int gpus = 0;
};

/// What the jobs of one virtual cluster ask.
struct VcDemand {
  int largest = 0;
  std::vector<Edge> edges;  // starts and ends

  void sort_edges() {
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return a.at != b.at ? a.at < b.at : a.gpus < b.gpus;
    });
  }
  int most_at_once() {
    sort_edges();
    int now = 0;
    int most = 0;
    for (const Edge& edge : edges) most = std::max(most, now += edge.gpus);
    return most;
  }
  /// The least number of GPUs that would do for `share` of the time until `last`.
  int enough_for(double share, Time last) {
    sort_edges();
    std::map<int, double> time_at;  // seconds with so many GPUs in use
    int now = 0;
    for (std::size_t at = 0; at + 1 < edges.size() && edges[at].at < last; ++at) {
      now += edges[at].gpus;
      time_at[now] += seconds(std::min(last, edges[at + 1].at) - edges[at].at);
    }
    double total = 0;
    for (const auto& [gpus, time_s] : time_at) total += time_s;
    double sum = 0;
    for (const auto& [gpus, time_s] : time_at) {
      if ((sum += time_s) >= share * total) return gpus;
    }
    return 0;
  }
};

/// GPUs of a node of the machine that a log's header gives: MaxProcs / MaxNodes, else the most up
/// to 8 that share it out evenly.
int gpus_per_node(const trace::Machine& machine) {
  if (machine.nodes > 0 && machine.gpus / machine.nodes <= cluster::kMaxGpusPerNode) {
    return machine.gpus / machine.nodes;
  }
  int most = 8;
  while (machine.gpus % most != 0) --most;
  return most;
}

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
  Time last = Time::min();
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus == 0) continue;
    ++jobs;
    with_vc += job.request.vc != kNoName ? 1 : 0;
    with_start += job.outcome.start != kNoTime ? 1 : 0;
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
    const Time start = recorded ? job.outcome.start : job.request.submit;
    if (start == kNoTime) continue;
    demand.edges.push_back({start, gpus});
    demand.edges.push_back({start + job.outcome.run, -gpus});
  }

  cluster::Cluster made;
  made.takes_every_job = !by_vc;
  made.inferred = true;
  const bool told = trace.machine.gpus > 0 && vcs.size() == 1;
  const int per_node = told ? gpus_per_node(trace.machine) : gpus_per_node(trace);
  for (auto& [name, demand] : vcs) {
    const int enough = recorded ? demand.most_at_once() : demand.enough_for(kShareOfTime, last);
    const int gpus = told ? trace.machine.gpus : std::max(enough, demand.largest);
    made.add_vc(name);
    made.add_nodes({.gpus = per_node},
                   static_cast<std::uint32_t>((gpus + per_node - 1) / per_node));
  }
  made.notes.push_back(
      fmt::format("cluster inferred from the trace: {} x {}, {}, {}; give --cluster to change it",
                  text::counted(made.nodes.size(), "node"),
                  text::counted(static_cast<std::uint64_t>(per_node), "GPU"),
                  by_vc && made.vcs.size() > 1 ? fmt::format("{} virtual clusters", made.vcs.size())
                                               : "one virtual cluster",
                  told       ? "as the header of the log says"
                  : recorded ? "as many as ever ran at once"
                             : "enough for every job to start at once 90 % of the time"));
  return made;
}

}  // namespace almanac::sim
