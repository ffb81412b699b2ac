// SPDX-License-Identifier: Apache-2.0
#include "advice/site.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/claims.h"
#include "store/log.h"

namespace almanac::advice {
namespace {

cluster::NodeClass make_of(const manager::Node& node) {
  return {.gpus = std::min(node.gpus, cluster::kMaxGpusPerNode),
          .gpu_type = node.gpu_type,
          .cpus = node.cpus,
          .memory_gb = node.memory_gb};
}

/// One whose GPUs are of several types is there once for each.
void add(const manager::Node& node, cluster::Cluster& made) {
  for (const manager::Node& part : manager::by_type(node)) {
    made.add_nodes(make_of(part), 1, {part.name});
  }
}

}  // namespace

Result<cluster::Cluster> cluster_of(const manager::News& news) {
  std::map<std::string, const manager::Node*> with_gpus;
  for (const manager::Node& node : news.nodes) {
    if (node.gpus > 0) with_gpus.emplace(node.name, &node);
  }
  if (with_gpus.empty()) {
    return fail(Code::unavailable, "no node of this site has GPUs", {},
                "almanac slurm doctor shows what Slurm reports about them");
  }
  std::map<std::string, std::vector<const manager::Node*>> partitions;
  std::map<std::string, int> owners;
  bool shared = false;
  for (const manager::Partition& partition :
       news.partitions.value_or(std::vector<manager::Partition>{})) {
    for (const std::string& name : partition.nodes) {
      const auto node = with_gpus.find(name);
      if (node == with_gpus.end()) continue;
      partitions[partition.name].push_back(node->second);
      shared = ++owners[name] > 1 || shared;
    }
  }
  cluster::Cluster made;
  if (shared || owners.size() < with_gpus.size()) {
    made.add_vc("all");
    made.takes_every_job = true;
    for (const auto& [name, node] : with_gpus) add(*node, made);
    made.notes.emplace_back(
        "partitions share nodes, so all are simulated as one that takes every job");
    return made;
  }
  for (const auto& [partition, nodes] : partitions) {
    made.add_vc(partition);
    for (const manager::Node* const node : nodes) add(*node, made);
  }
  return made;
}

Result<experiment::Past> past_of(manager::Link& link, Time from, Time until, accounting::VcFrom vc,
                                 const manager::Limits& limits) {
  experiment::Past past;
  accounting::Claims claims(limits);
  // Runs of one job come in order of their ends.
  std::map<store::JobNumber, store::Job> jobs;
  auto told = link.ended(from, until, [&](manager::Job&& row) -> Result<void> {
    store::Job run = accounting::past_job(row, vc);
    for (std::uint32_t again = 0;; ++again) {
      run.number = accounting::stored_number(row.number, again);
      const auto [known, is_new] = jobs.try_emplace(run.number, run);
      if (is_new) claims.add(run.number, row);
      if (is_new) break;
      if (!accounting::is_of(known->second, run)) continue;
      if (auto more = accounting::with_run(known->second, run)) known->second = std::move(*more);
      break;
    }
    return {};
  });
  if (!told) return tl::unexpected(told.error());
  std::vector<store::Job> list;
  for (auto& [number, job] : jobs) list.push_back(std::move(job));
  std::stable_sort(list.begin(), list.end(),
                   [](const store::Job& a, const store::Job& b) { return a.submit < b.submit; });
  past.log = store::log_of(list, "sacct");
  if (link.unread_rows() > 0) {
    past.log.notes.push_back(
        fmt::format("accounting rows that could not be read: {}", link.unread_rows()));
  }
  past.quotas = claims.take();
  return past;
}

}  // namespace almanac::advice
