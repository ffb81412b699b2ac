// SPDX-License-Identifier: Apache-2.0
#include "experiment/infer_cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/read.h"
#include "experiment/named_nodes.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

/// Without recorded starts: the share of the time in which every job could run at once.
constexpr double kShareOfTime = 0.9;
/// GPUs of a node if the log does not show them; a smaller cluster is one node.
constexpr int kUsualGpus = 8;

struct Edge {
  Time at{};
  std::int64_t milli = 0;  ///< Thousandths of GPUs.
};

std::int64_t thousandths_of(const trace::Request& request) {
  return std::llround(request.gpus * request.gpu_part() * 1000);
}

int whole(std::int64_t milli) { return static_cast<int>((milli + 999) / 1000); }

/// What the jobs of one virtual cluster ask.
struct VcDemand {
  int largest = 0;  // of those that ran
  int largest_asked = 0;
  std::vector<Edge> edges;  // starts and ends
  int enough = 0;           // GPUs

  int largest_run() const { return largest > 0 ? largest : largest_asked; }
  /// GPUs to assume.
  int gpus() const { return std::max(enough, largest_run()); }
  void sort_edges() {
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return a.at != b.at ? a.at < b.at : a.milli < b.milli;
    });
  }
  int most_at_once() {
    sort_edges();
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const Edge& edge : edges) most = std::max(most, now += edge.milli);
    return whole(most);
  }
  /// The least number of GPUs that would do for `share` of the time until `last`.
  int enough_for(double share, Time last) {
    sort_edges();
    std::map<std::int64_t, double> time_at;  // seconds with so many thousandths in use
    std::int64_t now = 0;
    for (std::size_t at = 0; at + 1 < edges.size() && edges[at].at < last; ++at) {
      now += edges[at].milli;
      time_at[now] += seconds(std::min(last, edges[at + 1].at) - edges[at].at);
    }
    double total = 0;
    for (const auto& [milli, time_s] : time_at) total += time_s;
    double sum = 0;
    for (const auto& [milli, time_s] : time_at) {
      if ((sum += time_s) >= share * total) return whole(milli);
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

/// 0 = the log does not tell.
int gpus_per_node(const trace::Trace& trace) {
  int most = 0;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.nodes > 0) {
      most = std::max(most, (job.request.gpus + job.request.nodes - 1) / job.request.nodes);
    }
  }
  return most <= cluster::kMaxGpusPerNode ? most : 0;
}

/// What the log tells of virtual clusters and times.
struct Told {
  bool by_vc = false;     ///< Most GPU jobs name a virtual cluster.
  bool recorded = false;  ///< Most have a start.
  Time last = Time::min();
};

/// Without names of nodes: as many as ever ran at once.
InferredCluster infer_bound(const trace::Trace& trace, const Told& told) {
  std::map<std::string, VcDemand, std::less<>> vcs;
  for (const trace::Job& job : trace.jobs) {
    const int gpus = job.request.gpus;
    if (gpus == 0) continue;
    std::string_view vc = "all";
    if (told.by_vc) {
      vc = job.request.vc == kNoName ? cluster::kUnnamedVc : trace.names[job.request.vc];
    }
    VcDemand& demand = vcs.try_emplace(std::string(vc)).first->second;
    demand.largest_asked = std::max(demand.largest_asked, gpus);
    const Time start = told.recorded ? job.outcome.start : job.request.submit;
    if (start == kNoTime) continue;
    if (job.outcome.run > Duration::zero()) demand.largest = std::max(demand.largest, gpus);
    const std::int64_t milli = thousandths_of(job.request);
    demand.edges.push_back({start, milli});
    demand.edges.push_back({start + job.outcome.run, -milli});
  }

  InferredCluster inferred;
  cluster::Cluster& made = inferred.cluster;
  made.takes_every_job = !told.by_vc;
  made.inferred = true;
  made.lower_bound = true;
  const int per_node = gpus_per_node(trace);
  int most = 0;
  for (auto& [name, demand] : vcs) {
    demand.enough =
        told.recorded ? demand.most_at_once() : demand.enough_for(kShareOfTime, told.last);
    most = std::max(most, demand.gpus());
  }
  const int on_one = per_node > 0 ? per_node : std::min(most, kUsualGpus);
  for (const auto& [name, demand] : vcs) {
    const int enough = demand.enough;
    const int largest = demand.largest_run();
    const int gpus = demand.gpus();
    made.add_vc(name);
    made.add_nodes({.gpus = on_one}, static_cast<std::uint32_t>((gpus + on_one - 1) / on_one));
    const VcId vc{static_cast<std::uint32_t>(made.vcs.size() - 1)};
    const auto tell = [&](const char* key, std::string why) {
      inferred.bases.push_back({vc, Basis::kAnyClass, key, std::move(why)});
    };
    tell("takes_every_job", "most jobs name no virtual cluster");
    tell("name", told.by_vc ? "from the jobs" : "all jobs share the nodes");
    tell("nodes",
         enough < largest ? fmt::format("lower bound: its largest job has {} GPUs", largest)
         : told.recorded
             ? fmt::format("lower bound: {} GPUs were in use at once", enough)
             : fmt::format("with {} GPUs all jobs could have started at once 90 % of the time",
                           enough));
    tell("gpus", per_node > 0 ? "most GPUs of one job on one node"
                              : fmt::format("not in the log; {} assumed", on_one));
  }
  made.notes.push_back(fmt::format(
      "assuming {} x {} in {}, {}; use --cluster to give the real ones",
      text::counted(made.nodes.size(), "node"),
      text::counted(static_cast<std::uint64_t>(on_one), "GPU"),
      told.by_vc && made.vcs.size() > 1 ? fmt::format("{} virtual clusters", made.vcs.size())
                                        : "one virtual cluster",
      told.recorded
          ? "the most ever in use at once: a lower bound, because the log names no nodes"
          : "enough for the largest job, and for all jobs to start at once at least 90 % of the "
            "time"));
  return inferred;
}

/// The only virtual cluster of the GPU jobs, "all" where they name none; "" = there are several.
std::string only_vc(const trace::Trace& trace, const Told& told) {
  if (!told.by_vc) return "all";
  std::string_view only;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus == 0) continue;
    const std::string_view vc =
        job.request.vc == kNoName ? cluster::kUnnamedVc : trace.names[job.request.vc];
    if (!only.empty() && vc != only) return "";
    only = vc;
  }
  return std::string(only);
}

/// The machine that the log's header gives.
InferredCluster infer_machine(const trace::Trace& trace, const std::string& vc, bool by_vc) {
  const int per_node = gpus_per_node(trace.machine);
  InferredCluster inferred;
  cluster::Cluster& made = inferred.cluster;
  made.takes_every_job = !by_vc;
  made.inferred = true;
  made.add_vc(vc);
  made.add_nodes({.gpus = per_node},
                 static_cast<std::uint32_t>((trace.machine.gpus + per_node - 1) / per_node));
  constexpr const char* kBasis = "the header of the log";
  const char* const shared = "all jobs name the same virtual cluster, or none";
  inferred.bases = {{VcId{0}, Basis::kAnyClass, "takes_every_job", shared},
                    {VcId{0}, Basis::kAnyClass, "name", by_vc ? "from the jobs" : shared},
                    {VcId{0}, Basis::kAnyClass, "nodes", kBasis},
                    {VcId{0}, Basis::kAnyClass, "gpus", kBasis}};
  made.notes.push_back(
      fmt::format("assuming {} x {} in one virtual cluster, from the header of the log; use "
                  "--cluster to give the real ones",
                  text::counted(made.nodes.size(), "node"),
                  text::counted(static_cast<std::uint64_t>(per_node), "GPU")));
  return inferred;
}

}  // namespace

Result<InferredCluster> infer(const trace::Trace& trace) {
  Told told;
  std::size_t jobs = 0;
  std::size_t with_vc = 0;
  std::size_t with_start = 0;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus == 0) continue;
    ++jobs;
    with_vc += job.request.vc != kNoName ? 1 : 0;
    with_start += job.outcome.start != kNoTime ? 1 : 0;
    told.last = std::max(told.last, job.request.submit);
  }
  if (jobs == 0) {
    return fail(Code::invalid, "no job requests a GPU, so the nodes cannot be inferred",
                {.file = trace.path}, "describe the nodes and their cpus in a --cluster file");
  }
  told.by_vc = 2 * with_vc >= jobs;
  told.recorded = 2 * with_start >= jobs;
  if (const std::string vc = only_vc(trace, told); trace.machine.gpus > 0 && !vc.empty()) {
    return infer_machine(trace, vc, told.by_vc);
  }
  const trace::HeldNodes held(trace);
  if (!names_nodes(held)) return infer_bound(trace, told);
  // Virtual clusters of Philly are quotas of machines that all of them use: to join them would be
  // to lose the quotas (Jeon et al., ATC'19, 2.2).
  InferredCluster named = infer_named_nodes(trace, held, told.by_vc);
  const bool joined = told.by_vc && named.cluster.takes_every_job;
  return joined && trace.format == "philly" ? infer_bound(trace, told) : named;
}

Result<cluster::Cluster> infer_cluster(const trace::Trace& trace) {
  auto inferred = infer(trace);
  if (!inferred) return tl::unexpected(inferred.error());
  return std::move(inferred->cluster);
}

std::string to_toml(const InferredCluster& inferred) {
  return cluster::to_toml(inferred.cluster, [&](VcId vc, std::uint32_t node_class,
                                                std::string_view key) {
    for (const Basis& basis : inferred.bases) {
      const bool is_it = basis.vc == vc && basis.key == key &&
                         (basis.node_class == Basis::kAnyClass || basis.node_class == node_class);
      if (is_it) return basis.why;
    }
    return std::string();
  });
}

}  // namespace almanac::experiment
