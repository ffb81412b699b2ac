// SPDX-License-Identifier: Apache-2.0
#include "steer/shards.h"

#include <bit>
#include <set>

#include "steer/world.h"

namespace almanac::steer {
namespace {

std::set<std::string> partitions_of_whole_gpus(const Mirror& mirror) {
  std::set<std::string> made;
  for (const auto& [number, job] : mirror.jobs()) {
    if (job.gpus == 0) continue;
    for (std::string& each : split_names(job.partition)) made.insert(std::move(each));
  }
  return made;
}

void take(const manager::Job& job, const manager::Held& held, SharedNode& node) {
  if (held.shards == 0 && held.gpu_count == 0) return;
  if (held.gpus == 0) node.is_unclear = true;
  for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
    if ((held.gpus >> gpu & 1U) == 0) continue;
    SharedNode::Gpu& taken = node.gpus[gpu];
    taken.jobs.push_back(job.number);
    taken.has_whole = taken.has_whole || held.gpu_count > 0;
    // For several GPUs Slurm does not report how many shards of each.
    taken.shards += std::popcount(held.gpus) == 1 ? held.shards : node.per_gpu;
  }
}

}  // namespace

std::vector<int> SharedNode::open() const {
  std::vector<int> made;
  for (std::size_t at = 0; at < gpus.size(); ++at) {
    const Gpu& gpu = gpus[at];
    if (gpu.jobs.empty() || gpu.has_whole || gpu.shards + half() > per_gpu) continue;
    made.push_back(static_cast<int>(at));
  }
  return made;
}

bool SharedNode::stays_so() const {
  return std::all_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.jobs.size() < 2; });
}

std::map<std::string, SharedNode> shared_nodes(const Mirror& mirror) {
  const std::set<std::string> whole = partitions_of_whole_gpus(mirror);
  std::map<std::string, SharedNode> made;
  for (const auto& [name, node] : mirror.nodes()) {
    if (node.gpus == 0 || node.shards < 2 * node.gpus) continue;
    SharedNode& shared = made[name];
    shared.per_gpu = node.shards / node.gpus;
    shared.gpus.resize(static_cast<std::size_t>(std::min(node.gpus, 64)));
    shared.is_mixed = std::any_of(node.partitions.begin(), node.partitions.end(),
                                  [&](const std::string& each) { return whole.contains(each); });
  }
  for (const manager::Job* const job : running_jobs(mirror)) {
    for (const manager::Held& held : job->holds) {
      if (const auto found = made.find(held.node); found != made.end()) {
        take(*job, held, found->second);
      }
    }
  }
  return made;
}

}  // namespace almanac::steer
