// SPDX-License-Identifier: Apache-2.0
#include "experiment/impossible_jobs.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "text/human.h"
#include "trace/held_nodes.h"

namespace almanac::experiment {

void note_impossible_jobs(cluster::Cluster& cluster, const trace::Trace& trace) {
  std::unordered_map<std::string, int> has;  // GPUs of each node
  for (const cluster::Node& node : cluster.nodes) {
    if (!node.name.empty()) has[node.name] += cluster.classes[node.node_class].gpus;
  }
  if (has.empty()) return;
  const trace::HeldNodes held(trace);
  if (held.stays().empty()) return;
  std::set<std::uint32_t> too_many;  // jobs
  std::string first;
  std::set<std::uint32_t> elsewhere;
  std::string unknown;
  const auto note_if_too_many = [&](std::uint32_t job, int gpus, int available,
                                    const std::string& where) {
    if (gpus <= available) return;
    if (too_many.empty()) {
      first = fmt::format("job {} used {} GPUs of {} {}", trace.id(trace.jobs[job].id), gpus, where,
                          available);
    }
    too_many.insert(job);
  };
  for (const trace::Stay& stay : held.stays()) {
    const trace::Request& request = trace.jobs[stay.job].request;
    bool all_known = true;
    int available = 0;
    // Slurm may spread a job's GPUs unevenly, so only their total is certain.
    int spread = 0;
    for (const trace::Held& each : held.held_in(stay)) {
      const std::string& name = held.names()[each.node];
      const auto known = has.find(name);
      if (known == has.end()) {
        if (elsewhere.empty()) unknown = name;
        elsewhere.insert(stay.job);
        all_known = false;
        continue;
      }
      available += known->second;
      const int gpus = trace::sure_gpus(request, stay, each);
      if (each.gpus >= 0 || stay.count == 1) {
        note_if_too_many(stay.job, gpus, known->second, name + ", which has");
      } else if (gpus > 0) {
        spread = request.gpus;
      }
    }
    if (all_known) {
      note_if_too_many(stay.job, spread, available,
                       fmt::format("{} nodes, which have", stay.count));
    }
  }
  if (!too_many.empty()) {
    cluster.notes.push_back(
        fmt::format("{} used more GPUs of {} nodes than the cluster file lists: {}{}",
                    text::counted(too_many.size(), "job"), too_many.size() > 1 ? "their" : "its",
                    first, too_many.size() > 1 ? " is the first" : ""));
  }
  if (!elsewhere.empty()) {
    cluster.notes.push_back(
        fmt::format("{} ran on nodes that are not in the cluster file, such as {}",
                    text::counted(elsewhere.size(), "job"), unknown));
  }
}

}  // namespace almanac::experiment
