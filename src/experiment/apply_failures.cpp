// SPDX-License-Identifier: Apache-2.0
#include "experiment/apply_failures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "faults/model.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

/// Returns the GPUs of the largest nodes.
int gpus_per_node(const cluster::Cluster& cluster) {
  int most = 1;
  for (const cluster::NodeClass& each : cluster.classes) most = std::max(most, each.gpus);
  return most;
}

/// Returns the number of jobs that fit into their virtual cluster, but not without its spares.
std::size_t count_stuck(std::uint32_t spares, const cluster::Cluster& cluster,
                        const trace::Trace& trace) {
  struct Room {
    std::int64_t whole = 0;
    std::int64_t left = 0;
  };
  std::unordered_map<std::string, Room> rooms;
  for (const cluster::VirtualCluster& vc : cluster.vcs) {
    Room& room = rooms[cluster.takes_every_job ? "" : vc.name];
    for (std::uint32_t at = 0; at < vc.num_nodes; ++at) {
      const cluster::Node& node = cluster.nodes[index(vc.first) + at];
      const int gpus = cluster.classes[node.node_class].gpus;
      room.whole += gpus;
      if (spares >= vc.num_nodes || at < vc.num_nodes - spares) room.left += gpus;
    }
  }
  return static_cast<std::size_t>(
      std::count_if(trace.jobs.begin(), trace.jobs.end(), [&](const trace::Job& job) {
        const bool named = !cluster.takes_every_job && job.request.vc != kNoName;
        const Room& room = rooms[named ? std::string(trace.names[job.request.vc]) : ""];
        return job.request.gpus > room.left && job.request.gpus <= room.whole;
      }));
}

void note_spares(const faults::Model& model, const cluster::Cluster& cluster,
                 const trace::Trace& trace, std::vector<std::string>& notes) {
  if (model.spares == 0) return;
  const auto spares = static_cast<std::uint32_t>(model.spares);
  std::vector<std::string> without;
  std::size_t kept = 0;
  for (const cluster::VirtualCluster& vc : cluster.vcs) {
    if (spares < vc.num_nodes) {
      kept += spares;
    } else {
      without.push_back(vc.name);
    }
  }
  std::string note = fmt::format(
      "failure model {} keeps {} of {} as spares (spares = {} in each virtual cluster); jobs run "
      "on "
      "the others",
      model.name, kept, text::counted(cluster.nodes.size(), "node"), spares);
  if (const std::size_t stuck = count_stuck(spares, cluster, trace); stuck > 0) {
    note += fmt::format("; {} can never start, because they request more GPUs than those have",
                        text::counted(stuck, "job"));
  }
  if (!without.empty()) {
    note += fmt::format("; no spares where there are too few nodes: {}", fmt::join(without, ", "));
  }
  notes.push_back(std::move(note));
}

}  // namespace

void note_failures(const faults::Model& model, const cluster::Cluster& cluster,
                   const trace::Trace& trace, std::vector<std::string>& notes) {
  const int per_node = gpus_per_node(cluster);
  std::size_t silent = 0;
  Duration least = Duration::max();
  Duration most{0};
  for (const trace::Job& job : trace.jobs) {
    if (!std::isnan(job.request.checkpoint_s)) continue;
    const Duration interval = model.interval(std::max(1, job.request.gpus), per_node);
    if (interval == kNoDuration) continue;
    ++silent;
    least = std::min(least, interval);
    most = std::max(most, interval);
  }
  if (silent > 0) {
    const std::string from = text::human_time(seconds(least));
    const std::string to = text::human_time(seconds(most));
    notes.push_back(fmt::format(
        "{} of {} jobs do not say how often they write a checkpoint (column checkpoint_s): assumed "
        "every {}, {} failure model {}{}",
        silent, trace.jobs.size(), from == to ? from : fmt::format("{} to {}", from, to),
        model.checkpoints.every > Duration{0} ? "as in" : "the best interval under", model.name,
        model.checkpoints.write < 1s
            ? ""
            : fmt::format("; a checkpoint stops training for {}",
                          text::human_time(seconds(model.checkpoints.write)))));
  }
  if (model.checkpoints.write < 1s) {
    notes.push_back(fmt::format(
        "failure model {} does not say how long a checkpoint stops training (write): best "
        "intervals assume 1 s",
        model.name));
  }
  note_spares(model, cluster, trace, notes);
}

FailureReport failures_of(const Prepared& prepared, const sim::Schedule& schedule) {
  const int per_node = gpus_per_node(prepared.cluster);
  std::vector<double> intervals_s;
  for (const faults::JobToll& each : schedule.failures.jobs) {
    const trace::Request& request = prepared.trace.jobs[index(each.job)].request;
    const Duration assumed = prepared.failures->interval(request.gpus, per_node);
    intervals_s.push_back(!std::isnan(request.checkpoint_s) ? double{request.checkpoint_s}
                          : assumed == kNoDuration ? std::numeric_limits<double>::quiet_NaN()
                                                   : seconds(assumed));
  }
  return report_failures(schedule.failures, *prepared.failures, intervals_s, per_node,
                         schedule.finish);
}

}  // namespace almanac::experiment
