// SPDX-License-Identifier: Apache-2.0
#include "experiment/site_of_log.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "experiment/infer_cluster.h"
#include "site/cluster.h"
#include "site/read.h"

namespace almanac::experiment {
namespace {

/// CPUs and memory of a node whose size the log does not show: more than its jobs request.
constexpr int kManyCpus = 100'000;
constexpr std::int64_t kMuchMemory_mb = 100'000'000;
constexpr double kMibPerGb = 1024;

/// The partitions that jobs name, with the number of their jobs.
std::map<std::string, std::int64_t> partitions_of(const trace::Trace& log) {
  std::map<std::string, std::int64_t> made;
  std::map<NameId, std::int64_t> lists;
  for (const trace::Job& job : log.jobs) {
    const trace::Request& request = job.request;
    ++lists[request.partition != kNoName ? request.partition : request.vc];
  }
  for (const auto& [list, jobs] : lists) {
    for (const std::string& each : cluster::split_list(std::string(log.names[list]))) {
      if (!each.empty()) made[each] += jobs;
    }
  }
  if (made.empty()) made["all"] = 1;
  return made;
}

/// Adds the nodes of an inferred cluster. A node with GPUs of several types is several of those.
/// Returns the position of each in the site.
std::vector<site::NodeIndex> add_nodes(const cluster::Cluster& inferred, site::Site& site) {
  std::map<std::string, site::NodeIndex> by_name;
  std::vector<site::NodeIndex> places;
  for (std::size_t at = 0; at < inferred.nodes.size(); ++at) {
    const cluster::NodeClass& make = inferred.classes[inferred.nodes[at].node_class];
    std::string name = inferred.nodes[at].name;
    if (name.empty()) name = fmt::format("node{}", at + 1);
    const auto [known, is_new] =
        by_name.try_emplace(name, static_cast<site::NodeIndex>(site.nodes.size()));
    if (is_new) site.nodes.push_back({.name = name});
    site::Node& node = site.nodes[known->second];
    const int cpus = make.cpus > 0 ? static_cast<int>(std::ceil(make.cpus)) : kManyCpus;
    // The cluster's GB are rounded: a node must not lose the MiB that its jobs held.
    const std::int64_t memory_mb =
        make.memory_gb > 0 ? static_cast<std::int64_t>(std::ceil(make.memory_gb * kMibPerGb))
                           : kMuchMemory_mb;
    node.cpus = node.effective_cpus = std::max(node.cpus, cpus);
    node.cores_per_socket = node.cpus;
    node.memory_mb = std::max(node.memory_mb, memory_mb);
    if (make.gpus > 0) {
      node.gres.push_back({.name = "gpu", .type = make.gpu_type, .count = make.gpus});
    }
    places.push_back(known->second);
  }
  return places;
}

/// Partitions that only the log or only the files name.
struct UnknownPartitions {
  std::vector<std::string> to_files{};  ///< Have no limits.
  std::vector<std::string> to_log{};    ///< Are left out.
};

/// Replaces the partitions of the site by those that jobs name, on the inferred nodes. One that the
/// files name keeps its settings.
UnknownPartitions replace_partitions(const trace::Trace& log, const cluster::Cluster& inferred,
                                     const std::vector<site::NodeIndex>& places, site::Site& site) {
  const std::vector<site::Partition> told = std::exchange(site.partitions, {});
  UnknownPartitions unknown;
  const std::map<std::string, std::int64_t> named = partitions_of(log);
  for (const auto& [name, jobs] : named) {
    const VcId vc = inferred.find_vc_of_jobs(name);
    if (vc == kNoVc && !inferred.takes_every_job) continue;  // of CPU jobs
    std::set<site::NodeIndex> nodes;
    for (std::size_t at = 0; at < inferred.nodes.size(); ++at) {
      if (vc == kNoVc || inferred.nodes[at].vc == vc) nodes.insert(places[at]);
    }
    const auto own =
        std::find_if(told.begin(), told.end(), [&](const auto& each) { return each.name == name; });
    if (own == told.end()) unknown.to_files.push_back(name);
    site::Partition made = own == told.end() ? site::Partition{.name = name} : *own;
    made.nodes.assign(nodes.begin(), nodes.end());
    site.partitions.push_back(std::move(made));
  }
  const auto is_default = [](const site::Partition& each) { return each.is_default; };
  const auto most = std::max_element(
      site.partitions.begin(), site.partitions.end(),
      [&](const auto& a, const auto& b) { return named.at(a.name) < named.at(b.name); });
  if (std::none_of(site.partitions.begin(), site.partitions.end(), is_default) &&
      most != site.partitions.end()) {
    most->is_default = true;
  }
  for (const site::Partition& each : told) {
    if (!named.contains(each.name)) unknown.to_log.push_back(each.name);
  }
  return unknown;
}

/// Says what is assumed of partitions that the log or the files do not know. `has_partitions`: the
/// files name some, so that their names may differ from the log's.
void note_unknown(const UnknownPartitions& unknown, bool has_partitions,
                  std::vector<std::string>& notes) {
  const auto named = [](const std::vector<std::string>& names) {
    return fmt::format("{} {}", names.size() == 1 ? "partition" : "partitions",
                       fmt::join(names, ", "));
  };
  if (!unknown.to_files.empty()) {
    notes.push_back(fmt::format(
        "no file of the site names {}: assumed without limits; {}", named(unknown.to_files),
        has_partitions ? "check that scontrol show partition is of the log's cluster"
                       : "add the output of scontrol show partition"));
  }
  if (has_partitions && !unknown.to_log.empty()) {
    notes.push_back(
        fmt::format("no job of the log names {} of the site's files: left out, with {} limits",
                    named(unknown.to_log), unknown.to_log.size() == 1 ? "its" : "their"));
  }
}

}  // namespace

Result<cluster::Cluster> read_cluster_of(const trace::Trace& log, const std::string& text,
                                         std::shared_ptr<const site::Site>* site) {
  site->reset();
  if (text.empty()) return infer_cluster(log);
  auto read = site::read_cluster(text, site);
  if (read || !site::is_site(text)) return read;
  auto settings = site::read_site(text, false);
  if (!settings || !settings->nodes.empty() || settings->config.all.empty()) return read;
  const auto inferred = infer_cluster(log);
  if (!inferred) return tl::unexpected(inferred.error());
  const std::vector<site::NodeIndex> places = add_nodes(*inferred, *settings);
  // Without a file that names partitions, the site has one, "all".
  const bool has_partitions =
      settings->partitions.size() != 1 || settings->partitions.front().name != "all";
  const UnknownPartitions unknown = replace_partitions(log, *inferred, places, *settings);
  auto made = site::cluster_of(*settings, text);
  if (!made) return made;
  made->inferred = true;
  made->lower_bound = inferred->lower_bound;
  made->notes.insert(made->notes.end(), inferred->notes.begin(), inferred->notes.end());
  made->notes.emplace_back(
      "the files of the site name no nodes, so each partition has those of its jobs; add the "
      "output of scontrol show node");
  note_unknown(unknown, has_partitions, made->notes);
  *site = std::make_shared<const site::Site>(std::move(*settings));
  return made;
}

}  // namespace almanac::experiment
