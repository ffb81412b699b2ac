// SPDX-License-Identifier: Apache-2.0
#include "experiment/named_nodes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/admission.h"
#include "text/human.h"
#include "trace/node_use.h"

namespace almanac::experiment {
namespace {

/// A node that will be, and on what its size rests.
struct NamedNode {
  trace::NodeUse use{};
  std::string name{};
  std::string stem{};  ///< The name without its numbers.
  int gpus = 0;
  bool like_others = false;     ///< Its size is that of others.
  bool type_of_others = false;  ///< Its type is.
  bool enlarged = false;        ///< A job over several nodes would not have fitted else.
};

bool shows_its_size(const trace::NodeUse& use) {
  constexpr std::int64_t kOften = 3;
  constexpr double kLong = 0.1;
  return use.reached >= kOften && use.share_of_time >= kLong;
}

/// What the nodes with a stem, and GPUs of one type or of no known one, showed of their sizes.
struct Peers {
  std::set<int> sizes{};
  std::int64_t nodes = 0;
  std::int64_t jobs = 0;
  int most = 0;
};

/// Nodes that hardly showed their size get that of others with the same stem.
void learn_from_others(std::vector<NamedNode>& nodes) {
  constexpr std::int64_t kManyJobs = 10;  // on a node, on average
  std::map<std::string, std::map<std::string, Peers>> peers;
  for (const NamedNode& node : nodes) {
    Peers& own = peers[node.stem][node.use.gpu_type];
    ++own.nodes;
    own.jobs += node.use.jobs;
    own.most = std::max(own.most, node.gpus);
    if (shows_its_size(node.use)) own.sizes.insert(node.gpus);
  }
  // Where none showed it, but jobs came and went, the fullest was the one with most luck.
  for (auto& [stem, types] : peers) {
    for (auto& [type, own] : types) {
      if (own.sizes.empty() && own.jobs >= kManyJobs * own.nodes) own.sizes.insert(own.most);
    }
  }
  for (NamedNode& node : nodes) {
    const auto& types = peers[node.stem];
    if (!shows_its_size(node.use)) {
      std::set<int> known;
      for (const auto& [type, own] : types) {
        const bool alike = type.empty() || node.use.gpu_type.empty() || type == node.use.gpu_type;
        if (alike) known.insert(own.sizes.begin(), own.sizes.end());
      }
      const auto larger = known.upper_bound(node.gpus);
      node.like_others = larger != known.end();
      if (node.like_others) node.gpus = *larger;
    }
    const std::size_t named = types.size() - types.count("");
    if (node.gpus > 0 && node.use.gpu_type.empty() && named == 1) {
      node.use.gpu_type = types.rbegin()->first;
      node.type_of_others = true;
    }
  }
}

/// The nodes of a job have as many GPUs together as it had, however they were spread.
void make_room(const trace::Trace& trace, const trace::HeldNodes& held,
               std::vector<NamedNode>& nodes) {
  std::vector<std::vector<std::size_t>> of(held.names().size());
  for (std::size_t at = 0; at < nodes.size(); ++at) of[nodes[at].use.node].push_back(at);
  std::vector<std::size_t> own;
  for (const trace::Stay& stay : held.stays()) {
    const trace::Request& request = trace.jobs[stay.job].request;
    own.clear();
    int there = 0;
    for (const trace::Held& each : held.held_in(stay)) {
      for (const std::size_t at : of[each.node]) {
        const bool suits =
            nodes[at].use.gpu_type.empty() ||
            cluster::is_one_of(nodes[at].use.gpu_type, trace.names[request.gpu_type]);
        if (!suits) continue;
        own.push_back(at);
        there += nodes[at].gpus;
      }
    }
    while (there < request.gpus && !own.empty()) {
      NamedNode& least = nodes[*std::min_element(
          own.begin(), own.end(), [&](auto a, auto b) { return nodes[a].gpus < nodes[b].gpus; })];
      if (least.gpus >= cluster::kMaxGpusPerNode) break;
      ++least.gpus;
      least.enlarged = true;
      ++there;
    }
  }
}

/// Nodes that look alike: one class of them, one group in the file.
using NamedKind = std::tuple<std::string, std::string, int>;  // stem, type, GPUs

struct NodeGroup {
  std::vector<const NamedNode*> nodes;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
};

/// Nodes of a virtual cluster in groups, the largest first, and within a group as they are named.
std::vector<std::pair<NamedKind, NodeGroup>> groups_of(const std::vector<const NamedNode*>& nodes,
                                                       const std::map<NamedKind, NodeGroup>& all) {
  std::map<NamedKind, NodeGroup> own;
  for (const NamedNode* const node : nodes) {
    const NamedKind kind{node->stem, node->use.gpu_type, node->gpus};
    NodeGroup& group = own.try_emplace(kind).first->second;
    group.nodes.push_back(node);
    group.cpu_milli = all.at(kind).cpu_milli;
    group.memory_mb = all.at(kind).memory_mb;
  }
  std::vector<std::pair<NamedKind, NodeGroup>> made(own.begin(), own.end());
  std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) {
    return std::get<2>(a.first) > std::get<2>(b.first);
  });
  return made;
}

double in_whole(std::int64_t thousandths, double unit) {
  return std::round(static_cast<double>(thousandths) / unit * 1000) / 1000;
}

std::string some_names(const std::vector<const NamedNode*>& nodes) {
  constexpr std::size_t kShown = 3;
  std::string made;
  for (std::size_t at = 0; at < std::min(kShown, nodes.size()); ++at) {
    made += (at > 0 ? ", " : "") + nodes[at]->name;
  }
  return nodes.size() > kShown ? made + fmt::format(" and {} more", nodes.size() - kShown) : made;
}

std::string why_so_many_gpus(const NodeGroup& group, int gpus) {
  if (gpus == 0) return "no job used a GPU here";
  std::vector<const NamedNode*> like_others;
  std::vector<const NamedNode*> enlarged;
  std::int64_t reached = 0;
  for (const NamedNode* const node : group.nodes) {
    if (node->like_others) {
      like_others.push_back(node);
    } else if (node->enlarged) {
      enlarged.push_back(node);
    } else {
      reached += node->use.reached;
    }
  }
  std::string why =
      reached == 0 ? "" : fmt::format("most GPUs in use at once (reached {} times)", reached);
  const auto add = [&](const std::vector<const NamedNode*>& nodes, const char* because) {
    if (nodes.empty()) return;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", some_names(nodes), because);
  };
  add(like_others, "fewer in use, assumed equal to similar nodes");
  add(enlarged, "smallest size that fits a multi-node job");
  return why;
}

/// The most GPUs that a job had that ran, in all and on a node.
struct LargestJob {
  int gpus = 0;
  int a_node = 0;
};

class NamedInference {
 public:
  NamedInference(const trace::Trace& trace, const trace::HeldNodes& held, bool by_vc)
      : trace_(trace), held_(held), by_vc_(by_vc) {}

  InferredCluster run() {
    for (trace::NodeUse& use : trace::use_of_nodes(trace_, held_)) {
      NamedNode node{.use = std::move(use)};
      node.name = held_.names()[node.use.node];
      node.stem = trace::stem_of(node.name);
      node.gpus = std::min(node.use.gpus, cluster::kMaxGpusPerNode);
      over_full_ += node.use.gpus > cluster::kMaxGpusPerNode ? 1 : 0;
      nodes_.push_back(std::move(node));
    }
    forget_types_if_too_many();
    learn_from_others(nodes_);
    make_room(trace_, held_, nodes_);
    cluster::Cluster& made = made_.cluster;
    made.inferred = true;
    made.takes_every_job = !by_vc_ || share_nodes();
    std::map<NamedKind, NodeGroup> all;
    for (const NamedNode& node : nodes_) {
      NodeGroup& group = all[{node.stem, node.use.gpu_type, node.gpus}];
      group.cpu_milli = std::max(group.cpu_milli, node.use.cpu_milli);
      group.memory_mb = std::max(group.memory_mb, node.use.memory_mb);
    }
    find_largest_jobs();
    for (const auto& [vc, nodes] : nodes_by_vc()) add_vc(vc, groups_of(nodes, all));
    forget_cores_that_do_not_hold();
    made.notes.push_back(note());
    if (over_full_ > 0) {
      made.notes.push_back(
          fmt::format("{} used more than {} GPUs at once according to the log, the most that a "
                      "node can have here",
                      text::counted(over_full_, "node"), cluster::kMaxGpusPerNode));
    }
    return std::move(made_);
  }

 private:
  void forget_types_if_too_many() {
    std::set<std::string> types;
    for (const NamedNode& node : nodes_) types.insert(node.use.gpu_type);
    if (types.size() < cluster::kMaxGpuTypes) return;
    for (NamedNode& node : nodes_) node.use.gpu_type.clear();
    made_.cluster.notes.push_back(fmt::format(
        "the log has {} types of GPUs, too many to distinguish: all GPUs count as alike",
        types.size()));
  }

  /// Whether jobs of several virtual clusters ran on some node.
  bool share_nodes() {
    for (const NamedNode& node : nodes_) {
      if (node.use.vcs.size() > 1) {
        shared_ = &node;
        return true;
      }
    }
    return false;
  }

  std::string vc_of(NameId name) const {
    if (made_.cluster.takes_every_job) return "all";
    return std::string(name == kNoName ? cluster::kUnnamedVc : trace_.names[name]);
  }

  void find_largest_jobs() {
    std::map<NameId, LargestJob> of_names;
    for (const trace::Job& job : trace_.jobs) {
      if (job.request.gpus == 0 || job.outcome.run <= Duration::zero()) continue;
      LargestJob& largest = of_names[job.request.vc];
      const int nodes = std::max(1, job.request.nodes);
      largest.gpus = std::max(largest.gpus, job.request.gpus);
      largest.a_node = std::max(largest.a_node, (job.request.gpus + nodes - 1) / nodes);
    }
    for (const auto& [name, of] : of_names) {
      LargestJob& largest = largest_[vc_of(name)];
      largest.gpus = std::max(largest.gpus, of.gpus);
      largest.a_node = std::max(largest.a_node, of.a_node);
    }
  }

  /// Returns the nodes of each virtual cluster, including clusters of which no job names a node.
  std::map<std::string, std::vector<const NamedNode*>> nodes_by_vc() const {
    std::map<std::string, std::vector<const NamedNode*>> made;
    for (const NamedNode& node : nodes_) made[vc_of(node.use.vcs.front())].push_back(&node);
    for (const auto& [vc, largest] : largest_) made[vc];
    return made;
  }

  void add_vc(const std::string& name, const std::vector<std::pair<NamedKind, NodeGroup>>& groups) {
    cluster::Cluster& made = made_.cluster;
    made.add_vc(name);
    const VcId vc{static_cast<std::uint32_t>(made.vcs.size() - 1)};
    if (made.takes_every_job) {
      tell(vc, Basis::kAnyClass, "name", "all jobs share the nodes");
      tell(vc, Basis::kAnyClass, "takes_every_job",
           shared_ == nullptr
               ? "most jobs name no virtual cluster"
               : fmt::format("jobs of several virtual clusters ran on {}", shared_->name));
    } else {
      tell(vc, Basis::kAnyClass, "name", "from the jobs");
    }
    for (const auto& [kind, group] : groups) add_group(vc, kind, group);
    enlarge(vc, name);
  }

  void add_group(VcId vc, const NamedKind& kind, const NodeGroup& group) {
    const auto& [stem, type, gpus] = kind;
    const cluster::NodeClass make{.gpus = gpus,
                                  .gpu_type = type,
                                  .cpus = in_whole(group.cpu_milli, 1000),
                                  .memory_gb = in_whole(group.memory_mb, 1024)};
    std::vector<std::string> names;
    for (const NamedNode* const node : group.nodes) names.push_back(node->name);
    made_.cluster.add_nodes(make, static_cast<std::uint32_t>(names.size()), names);
    const std::uint32_t position = made_.cluster.nodes.back().node_class;
    tell(vc, position, "nodes", "nodes that ran at least one job");
    tell(vc, position, "gpus", why_so_many_gpus(group, gpus));
    const bool type_of_others =
        std::any_of(group.nodes.begin(), group.nodes.end(),
                    [](const NamedNode* node) { return node->type_of_others; });
    tell(vc, position, "gpu_type",
         type_of_others ? "type recorded on similar nodes"
                        : "type recorded for the jobs on these nodes");
    tell(vc, position, "cpus", "most in use at once on one of these nodes; a lower bound");
    tell(vc, position, "memory_gb", "most in use at once on one of these nodes; a lower bound");
    tell(vc, position, "names", "node names in the log");
  }

  /// Adds nodes without a name for jobs that ran and name none.
  void enlarge(VcId vc, const std::string& name) {
    cluster::Cluster& made = made_.cluster;
    const LargestJob largest = largest_[name];
    int a_node = largest.a_node;
    const int missing = largest.gpus - made.gpus(vc);
    if (missing <= 0) return;
    for (const NamedNode& node : nodes_) a_node = std::max(a_node, node.gpus);
    a_node = std::min(std::max(1, a_node), cluster::kMaxGpusPerNode);
    made.add_nodes({.gpus = a_node}, static_cast<std::uint32_t>((missing + a_node - 1) / a_node));
    const std::uint32_t position = made.nodes.back().node_class;
    tell(vc, position, "nodes",
         fmt::format("needed by a job on {} GPUs that names no nodes", largest.gpus));
    tell(vc, position, "gpus", "size of the largest node");
  }

  /// Each GPU of a job gets an equal part of its cores here. If many jobs held them otherwise, the
  /// cores and the memory of nodes would keep jobs out that did run.
  void forget_cores_that_do_not_hold() {
    constexpr double kFew = 0.01;
    cluster::Cluster& made = made_.cluster;
    if (!made.counts_cpus()) return;
    std::size_t ran = 0;
    std::size_t kept_out = 0;
    schedule::Admission admission(made, trace_.names);
    for (const trace::Job& job : trace_.jobs) {
      if (job.request.gpus == 0 || job.outcome.run <= Duration::zero()) continue;
      ++ran;
      const VcId vc = admission.vc(job.request);
      if (vc == kNoVc) continue;
      const auto why = admission.never(vc, admission.demand(job.request, vc));
      kept_out += why && why->kind == policy::ReasonKind::too_many_cores ? 1 : 0;
    }
    if (static_cast<double>(kept_out) <= kFew * static_cast<double>(ran)) return;
    for (cluster::NodeClass& make : made.classes) make.cpus = make.memory_gb = 0;
    made.notes.push_back(
        fmt::format("cores and memory of the nodes are not inferred: {} of {} GPU jobs used "
                    "different amounts of them on their nodes",
                    kept_out, ran));
  }

  std::string note() const {
    const cluster::Cluster& made = made_.cluster;
    std::map<std::pair<int, std::string>, std::size_t, std::greater<>> sizes;
    for (const cluster::Node& node : made.nodes) {
      const cluster::NodeClass& make = made.classes[node.node_class];
      ++sizes[{make.gpus, make.gpu_type}];
    }
    std::vector<std::string> parts;
    for (const auto& [size, count] : sizes) {
      const auto gpus = static_cast<std::uint64_t>(size.first);
      std::string spelled = text::counted(count, "node");
      if (gpus == 0) {
        spelled += " without GPUs";
      } else {
        spelled += fmt::format(" x {}", text::counted(gpus, "GPU"));
        if (!size.second.empty()) spelled += fmt::format(" ({})", size.second);
      }
      parts.push_back(std::move(spelled));
    }
    return fmt::format(
        "cluster inferred from the nodes in the log, and from what ran on each at once: {}, {}; "
        "nodes that ran no job are not included (use --cluster to give the real cluster)",
        fmt::join(parts, ", "),
        made.vcs.size() > 1 ? fmt::format("{} virtual clusters", made.vcs.size())
                            : "one virtual cluster");
  }

  void tell(VcId vc, std::uint32_t node_class, const char* key, std::string why) {
    made_.bases.push_back({vc, node_class, key, std::move(why)});
  }

  const trace::Trace& trace_;
  const trace::HeldNodes& held_;
  bool by_vc_;
  std::vector<NamedNode> nodes_;
  const NamedNode* shared_ = nullptr;
  std::map<std::string, LargestJob> largest_;  // of each virtual cluster
  std::size_t over_full_ = 0;
  InferredCluster made_;
};

}  // namespace

bool names_nodes(const trace::HeldNodes& held) {
  const auto& counts = held.counts();
  return counts.gpu_told > 0 && 2 * counts.gpu_told >= counts.gpu_ran && !held.stays().empty();
}

InferredCluster infer_named_nodes(const trace::Trace& trace, const trace::HeldNodes& held,
                                  bool by_vc) {
  return NamedInference(trace, held, by_vc).run();
}

}  // namespace almanac::experiment
