// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm_file.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "text/human.h"

namespace almanac::cluster {
namespace {

/// The partitions that share nodes, together: the first name of each group, by partition.
std::map<std::string, std::string> groups_of(const std::vector<SlurmNode>& nodes) {
  std::map<std::string, std::string> group;
  for (const SlurmNode& node : nodes) {
    for (const std::string& each : node.partitions) group.emplace(each, each);
  }
  for (const SlurmNode& node : nodes) {
    for (const std::string& each : node.partitions) {
      const std::string from = group[each];
      const std::string to = std::min(from, group[node.partitions.front()]);
      const std::string other = std::max(from, group[node.partitions.front()]);
      if (from == group[node.partitions.front()]) continue;
      for (auto& [name, of] : group) {
        if (of == other) of = to;
      }
    }
  }
  return group;
}

/// What nodes of each type of a node's GPUs have.
std::vector<NodeClass> classes_of(const SlurmNode& node) {
  NodeClass make{.gpus = node.gres.gpus,
                 .cpus = node.cpus,
                 .memory_gb = node.memory_gb,
                 .nvlink_domain = node.nvlink_domain};
  if (node.gres.gpus > 0) {
    make.shards_per_gpu = node.gres.shards / node.gres.gpus;
    make.mps_per_gpu = node.gres.mps / node.gres.gpus;
  }
  int typed = 0;
  for (const text::TypedGpus& each : node.gres.types) typed += each.count;
  if (node.gres.types.size() < 2 || typed != node.gres.gpus) {
    if (node.gres.types.size() == 1) make.gpu_type = node.gres.types.front().type;
    return {make};
  }
  std::vector<NodeClass> made;
  for (const text::TypedGpus& each : node.gres.types) {
    const double part = static_cast<double>(each.count) / node.gres.gpus;
    NodeClass& own = made.emplace_back(make);
    own.gpus = each.count;
    own.gpu_type = each.type;
    own.cpus = node.cpus * part;
    own.memory_gb = node.memory_gb * part;
  }
  return made;
}

void note_nodes(const SlurmSite& site, std::vector<std::string>& notes) {
  const auto list = [&](const char* what, auto is_it) {
    constexpr std::size_t kShown = 5;
    std::vector<std::string> names;
    for (const SlurmNode& node : site.nodes) {
      if (is_it(node)) names.push_back(node.name);
    }
    if (names.empty()) return;
    const std::size_t count = names.size();
    const std::string more = count > kShown ? fmt::format(" and {} more", count - kShown) : "";
    names.resize(std::min(count, kShown));
    notes.push_back(fmt::format("{} {}: {}{}", text::counted(count, "node"), what,
                                fmt::join(names, ", "), more));
  };
  list("down or drained now, but counted", [](const SlurmNode& node) { return node.is_out; });
  if (site.tells_partitions) {
    list("in no partition, left out",
         [](const SlurmNode& node) { return node.partitions.empty(); });
  }
  list("with GPUs of several types (counted as one node for each type)",
       [](const SlurmNode& node) { return classes_of(node).size() > 1; });
}

}  // namespace

Result<Cluster> cluster_of(const SlurmSite& site, const std::string& path) {
  Cluster made;
  made.notes = site.notes;
  note_nodes(site, made.notes);
  const auto group = groups_of(site.nodes);
  std::map<std::string, std::vector<std::string>> members;
  for (const auto& [partition, first] : group) members[first].push_back(partition);
  struct Vc {
    std::string name{};
    std::vector<const SlurmNode*> nodes{};
  };
  std::map<std::string, Vc> vcs;
  for (const SlurmNode& node : site.nodes) {
    if (node.gres.gpus > kMaxGpusPerNode) {
      return fail(Code::invalid,
                  fmt::format("a node has at most {} GPUs: {} has {}", kMaxGpusPerNode, node.name,
                              node.gres.gpus),
                  node.where);
    }
    if (site.tells_partitions && node.partitions.empty()) continue;
    const std::string first = site.tells_partitions ? group.at(node.partitions.front()) : "all";
    Vc& vc = vcs[first];
    vc.nodes.push_back(&node);
    vc.name = site.tells_partitions ? fmt::format("{}", fmt::join(members.at(first), "+")) : first;
  }
  if (vcs.empty()) return fail(Code::invalid, "no node is in a partition", {.file = path});
  made.takes_every_job = vcs.size() == 1;
  for (auto& [first, vc] : vcs) {
    made.add_vc(vc.name);
    // Nodes of one make in one rack side by side, in the order in which the first of each comes.
    std::vector<std::tuple<NodeClass, std::string, std::vector<std::string>>> makes;
    for (const SlurmNode* const node : vc.nodes) {
      for (NodeClass& make : classes_of(*node)) {
        auto known = std::find_if(makes.begin(), makes.end(), [&](const auto& each) {
          return std::get<0>(each) == make && std::get<1>(each) == node->rack;
        });
        if (known == makes.end()) known = makes.insert(known, {std::move(make), node->rack, {}});
        std::get<2>(*known).push_back(node->name);
      }
    }
    for (auto& [make, rack, names] : makes) {
      made.add_nodes(make, static_cast<std::uint32_t>(names.size()), names, rack);
    }
  }
  if (made.gpu_types().size() > kMaxGpuTypes) {
    return fail(Code::invalid, fmt::format("more than {} kinds of GPUs", kMaxGpuTypes),
                {.file = path});
  }
  return made;
}

bool is_sinfo_text(std::string_view text) {
  constexpr int kHeaderLines = 3;  // sinfo -l prints the date first
  for (int number = 0; number < kHeaderLines && !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
    const bool names_nodes = has("NODELIST") || has("HOSTNAMES") || has("NODE_NAME");
    const bool is_header = has("PARTITION") || has("STATE") || has("GRES") || has("CPUS") ||
                           has("MEMORY") || has("NODES");
    if (!has("=") && names_nodes && is_header) return true;
  }
  return false;
}

}  // namespace almanac::cluster
