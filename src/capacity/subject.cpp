// SPDX-License-Identifier: Apache-2.0
#include "capacity/subject.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "capacity/grow.h"
#include "experiment/impossible_jobs.h"
#include "experiment/shares_of_cluster.h"
#include "experiment/site_of_log.h"
#include "policy/registry.h"
#include "schedule/admission.h"
#include "sim/simulation.h"
#include "text/human.h"
#include "trace/eligible.h"
#include "trace/read.h"

namespace almanac::capacity {
namespace {

/// Nodes of a class that a request needs; 0 if its GPUs are of another type.
int nodes_needed(const trace::Request& request, std::string_view gpu_type,
                 const cluster::NodeClass& make) {
  if (!cluster::is_one_of(make.gpu_type, gpu_type)) return 0;
  int needed = std::max(1, request.nodes);
  if (request.gpus > 0) {
    if (make.gpus == 0) return 0;
    needed = std::max(needed, (request.gpus + make.gpus - 1) / make.gpus);
  }
  if (make.cpus > 0 && request.cpus > 0) {
    needed = std::max(needed, static_cast<int>(std::ceil(request.cpus / make.cpus)));
  }
  return needed;
}

std::vector<int> least_nodes(const experiment::Prepared& prepared,
                             const std::vector<Group>& groups) {
  std::vector<int> least(groups.size(), 1);
  const std::vector<VcId> vcs = vcs_of_jobs(prepared);
  for (std::size_t job = 0; job < vcs.size(); ++job) {
    if (vcs[job] == kNoVc) continue;
    const trace::Request& request = prepared.trace.jobs[job].request;
    const std::string_view type = prepared.trace.names[request.gpu_type];
    std::optional<std::size_t> largest;  // of the groups that it can use
    int needed = 0;
    for (std::size_t at = 0; at < groups.size(); ++at) {
      if (groups[at].vc != vcs[job]) continue;
      const int own = nodes_needed(request, type, prepared.cluster.classes[groups[at].node_class]);
      if (own == 0 || (largest && groups[*largest].nodes >= groups[at].nodes)) continue;
      largest = at;
      needed = own;
    }
    if (largest) {
      least[*largest] = std::min(groups[*largest].nodes, std::max(least[*largest], needed));
    }
  }
  return least;
}

/// The case without the rack that has most GPUs; nothing if fewer than two racks are known.
std::optional<Case> without_largest_rack(const Case& all, const std::vector<Group>& groups) {
  const cluster::Cluster& cluster = all.prepared->cluster;
  std::map<std::string, int> gpus;  // by rack
  for (const cluster::Node& node : cluster.nodes) {
    if (!node.rack.empty()) gpus[node.rack] += cluster.classes[node.node_class].gpus;
  }
  if (gpus.size() < 2) return std::nullopt;
  const auto largest = std::max_element(
      gpus.begin(), gpus.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Case made = all;
  int nodes = 0;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    for (const cluster::Node& node : cluster.nodes) {
      if (node.rack != largest->first || node.vc != groups[at].vc ||
          node.node_class != groups[at].node_class) {
        continue;
      }
      ++made.lost[at];
      ++nodes;
    }
  }
  made.name = "without rack " + largest->first;
  made.detail = fmt::format("{} is the largest rack: {} with {}", largest->first,
                            text::counted(static_cast<std::uint64_t>(nodes), "node"),
                            text::counted(static_cast<std::uint64_t>(largest->second), "GPU"));
  return made;
}

/// A Slurm node with GPUs of several types is several nodes of the cluster, which would grow apart.
/// Policies that do not read the site see these as nodes of any cluster.
Result<void> check_types(const experiment::Prepared& prepared) {
  const auto reads_site = [](const experiment::PolicyRun& run) {
    return run.site != nullptr &&
           policy::registry().traits(run.composition).has(policy::Trait::reads_site);
  };
  const auto reader = std::find_if(prepared.runs.begin(), prepared.runs.end(), reads_site);
  if (reader == prepared.runs.end()) return {};
  std::set<std::string_view> names;
  for (const cluster::Node& node : prepared.cluster.nodes) {
    if (names.insert(node.name).second) continue;
    return fail(Code::unsupported,
                fmt::format("node {} has GPUs of several types, so policy {} cannot simulate other "
                            "sizes of this site",
                            node.name, reader->composition.name),
                {}, "use other policies (--policy easy,almanac)");
  }
  return {};
}

/// A loss must leave nodes: of the cluster, or of each partition.
Result<void> check_loss(const cluster::Cluster& cluster, const WhatIf& what_if) {
  if (what_if.lose.value_or(0) <= 0) return {};
  std::uint64_t fewest = cluster.nodes.size();
  if (what_if.of_each_partition) {
    for (const auto& vc : cluster.vcs) fewest = std::min<std::uint64_t>(fewest, vc.num_nodes);
  }
  if (static_cast<std::uint64_t>(*what_if.lose) < fewest) return {};
  return fail(Code::usage,
              fmt::format("--lose {} leaves no node: {} has {}", *what_if.lose,
                          what_if.of_each_partition ? "the smallest partition" : "the cluster",
                          text::counted(fewest, "node")));
}

/// The case without `lose` nodes of all, or of each virtual cluster, in proportion to their
/// classes.
Case without_nodes(const Case& all, const std::vector<Group>& groups, int lose, bool of_each) {
  Case made = all;
  const auto take = [&](const std::vector<std::size_t>& members) {
    std::vector<Group> some;
    int today = 0;
    for (const std::size_t at : members) {
      some.push_back(groups[at]);
      today += groups[at].nodes;
    }
    const std::vector<int> kept = split(some, std::vector<int>(some.size(), 0), today - lose);
    for (std::size_t at = 0; at < members.size(); ++at) {
      made.lost[members[at]] = some[at].nodes - kept[at];
    }
  };
  std::map<VcId, std::vector<std::size_t>> members;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    members[of_each ? groups[at].vc : VcId{0}].push_back(at);
  }
  for (const auto& [vc, own] : members) take(own);
  made.name = fmt::format("without {}", text::counted(static_cast<std::uint64_t>(lose), "node"));
  if (of_each) made.detail = "each partition loses these nodes";
  return made;
}

}  // namespace

std::vector<VcId> vcs_of_jobs(const experiment::Prepared& prepared) {
  const trace::Trace& trace = prepared.trace;
  schedule::Admission admission(prepared.cluster, trace.names);
  std::vector<VcId> vcs(trace.jobs.size(), kNoVc);
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    if (!sim::is_simulated(job.request, prepared.cluster) || trace::never_ran(job)) continue;
    const VcId vc = admission.vc(job.request);
    if (vc == kNoVc) continue;
    const auto accepted = admission.acceptable(job.request, vc);
    const bool runs = std::any_of(accepted.begin(), accepted.end(), [&](const auto& each) {
      return !admission.never(vc, each.demand);
    });
    if (runs) vcs[at] = vc;
  }
  return vcs;
}

Result<Subject> load(const experiment::Experiment& experiment, const WhatIf& what_if) {
  Result<trace::Trace> log = trace::read_trace(experiment.trace, experiment.reading);
  if (!log) return tl::unexpected(log.error());
  std::shared_ptr<const site::Site> site;
  experiment::Experiment chosen = experiment;
  Result<cluster::Cluster> cluster = experiment::read_cluster_of(*log, experiment.cluster, &site);
  if (!cluster) return tl::unexpected(cluster.error());
  experiment::share_gpus_by(*cluster, *log);
  experiment::note_impossible_jobs(*cluster, *log);
  // Files of machines alone say nothing of how Slurm schedules.
  const bool knows_slurm = site != nullptr && !site->config.all.empty();
  if (chosen.policies.empty()) chosen.policies = {knows_slurm ? "slurm" : "easy", "almanac"};
  return prepare(chosen, std::move(*log), std::move(*cluster), what_if,
                 knows_slurm ? std::move(site) : nullptr);
}

Result<Subject> prepare(const experiment::Experiment& experiment, trace::Trace log,
                        cluster::Cluster cluster, const WhatIf& what_if,
                        std::shared_ptr<const site::Site> site) {
  const bool owns_cells = std::any_of(cluster.tenants.begin(), cluster.tenants.end(),
                                      [](const auto& tenant) { return !tenant.cells.empty(); });
  if (owns_cells) {
    return fail(Code::unsupported, "tenants own cells of this cluster, which cannot be resized",
                {.file = experiment.cluster}, "give the tenants guarantees in GPUs instead");
  }
  if (auto fits = check_loss(cluster, what_if); !fits) return tl::unexpected(fits.error());
  std::optional<Growth> more;
  if (what_if.growth > 0) {
    const bool keeps_users = !cluster.tenants.empty() || !cluster.qos.empty() || site != nullptr;
    more = grow(log, what_if.growth, experiment.seed, keeps_users);
  }
  const bool has_gpus = requests_gpus(log);
  auto base = experiment::prepare(experiment, std::move(log), cluster, site);
  if (!base) return tl::unexpected(base.error());
  if (auto resizable = check_types(*base); !resizable) return tl::unexpected(resizable.error());
  Subject made;
  made.notes = base->notes;
  made.groups = groups_of(base->cluster);
  Case as_logged{.name = "as logged",
                 .prepared = std::make_shared<const experiment::Prepared>(std::move(*base)),
                 .lost = std::vector<int>(made.groups.size(), 0)};
  made.least = least_nodes(*as_logged.prepared, made.groups);
  made.cases.push_back(as_logged);
  if (more && more->jobs > 0) {
    auto grown = experiment::prepare(experiment, std::move(more->trace), std::move(cluster), site);
    if (!grown) return tl::unexpected(grown.error());
    Case each = as_logged;
    each.name = text::human_share(what_if.growth) + " more users";
    const std::string whose =
        more->users == 0 ? ""
                         : " of " + text::counted(static_cast<std::uint64_t>(more->users), "user");
    each.detail = fmt::format("jobs{} that hold {} of the {} time arrive a second time", whose,
                              text::human_share(more->share), has_gpus ? "GPU" : "run");
    each.prepared = std::make_shared<const experiment::Prepared>(std::move(*grown));
    made.cases.push_back(std::move(each));
  } else if (more) {
    made.notes.emplace_back(
        "every job holds more GPU time than the additional users would, so there is no scenario "
        "with more users");
  }
  if (what_if.lose && *what_if.lose > 0) {
    made.cases.push_back(
        without_nodes(as_logged, made.groups, *what_if.lose, what_if.of_each_partition));
  } else if (!what_if.lose) {
    if (auto rack = without_largest_rack(as_logged, made.groups)) {
      made.cases.push_back(std::move(*rack));
    } else {
      made.notes.emplace_back("no racks are known; --lose N shows what the loss of N nodes does");
    }
  }
  return made;
}

}  // namespace almanac::capacity
