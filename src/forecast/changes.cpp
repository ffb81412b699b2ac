// SPDX-License-Identifier: Apache-2.0
#include "forecast/changes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace almanac::forecast {
namespace {

constexpr double kSure = 0.9;
constexpr const char* kHint =
    "write \"cancel JOB\", \"add N nodes\", \"add N nodes to VC\" or \"policy NAME\"";

/// What a change changes.
struct World {
  cluster::Cluster cluster{};
  policy::Composition composition{};
  sim::Present present{};
  std::vector<JobId> cancelled{};
  bool is_other_policy = false;
};

Result<void> cancel(const Change& change, const Known& known, World& world) {
  bool is_found = false;
  for (const JobId job : known.jobs(change.job)) {
    for (auto* const jobs : {&world.present.running, &world.present.waiting}) {
      if (std::erase_if(*jobs, [&](const auto& each) { return each.job == job; }) > 0) {
        world.cancelled.push_back(job);
        is_found = true;
      }
    }
    if (std::erase(world.present.throttled, job) > 0) {
      world.cancelled.push_back(job);
      is_found = true;
    }
  }
  if (is_found) return {};
  return fail(Code::not_found, fmt::format("no job {} runs or waits for GPUs", change.job), {},
              "a job that is held, or waits for another job, delays no other");
}

Result<VcId> find_vc(const cluster::Cluster& cluster, const std::string& name) {
  if (name.empty() && cluster.vcs.size() == 1) return VcId{0};
  const VcId found = name.empty() ? kNoVc : cluster.find_vc(name);
  if (found != kNoVc) return found;
  std::string names;
  for (const auto& each : cluster.vcs) names += (names.empty() ? "" : ", ") + each.name;
  return fail(name.empty() ? Code::usage : Code::not_found,
              name.empty() ? "say which virtual cluster gets the nodes"
                           : fmt::format("there is no virtual cluster {}", name),
              {}, fmt::format("add \"to VC\", one of {}", names));
}

/// Returns `count` nodes like `last`. They fill its rack up to the size of the largest rack, then
/// new racks of that size next to it, whose switches have the same uplink.
std::vector<cluster::Node> nodes_like(const cluster::Node& last, std::uint32_t count,
                                      cluster::Cluster& cluster) {
  cluster::Node made = last;
  made.name.clear();
  std::vector<cluster::Node> nodes(count, made);
  if (last.rack.empty()) return nodes;
  std::map<std::string, std::uint32_t> sizes;
  for (const cluster::Node& each : cluster.nodes) ++sizes[each.rack];
  const std::uint32_t in_last = sizes[last.rack];
  sizes.erase("");
  const auto largest = std::max_element(
      sizes.begin(), sizes.end(), [](auto& one, auto& other) { return one.second < other.second; });
  const std::uint32_t most = largest->second;
  const auto own =
      std::find_if(cluster.switches.begin(), cluster.switches.end(),
                   [&](const cluster::Switch& each) { return each.path == last.rack; });
  const double uplink_gbps = own == cluster.switches.end() ? 0 : own->uplink_gbps;
  int racks = 0;
  for (std::uint32_t at = most - in_last; at < count; ++at) {
    if ((at - (most - in_last)) % most == 0) {
      do {
        made.rack = fmt::format("{}+{}", last.rack, ++racks);
      } while (sizes.contains(made.rack));
      if (uplink_gbps > 0) {
        cluster.switches.push_back({.path = made.rack, .uplink_gbps = uplink_gbps});
      }
    }
    nodes[at].rack = made.rack;
  }
  return nodes;
}

/// Nodes of later virtual clusters get new numbers: those of one are numbered one after another.
Result<void> add_nodes(const Change& change, const Setting& setting, World& world) {
  const auto vc = find_vc(world.cluster, change.vc);
  if (!vc) return tl::unexpected(vc.error());
  cluster::VirtualCluster& grown = world.cluster.vcs[index(*vc)];
  const sim::Options& options = setting.options;
  const bool is_fixed = options.truth.speeds != nullptr || options.believed != nullptr ||
                        options.incidents != nullptr || setting.site != nullptr ||
                        !world.cluster.changes.empty();
  if (is_fixed) {
    return fail(
        Code::unsupported,
        "nodes cannot be added where speeds, incidents, changes of capacity or a Slurm site "
        "refer to the nodes",
        {}, "leave this change out");
  }
  if (grown.num_nodes == 0) {
    return fail(Code::unsupported,
                "nodes cannot be added to a virtual cluster that has none: a new node is a copy of "
                "its last one",
                {}, "leave this change out");
  }
  const auto end = static_cast<std::uint32_t>(index(grown.first)) + grown.num_nodes;
  const auto added = static_cast<std::uint32_t>(change.nodes);
  const std::size_t most = 4 * setting.cluster.nodes.size() + 1000;
  const std::size_t before = world.cluster.nodes.size() - setting.cluster.nodes.size();
  if (before + added > most) {
    return fail(Code::usage,
                fmt::format("at most {} nodes can be added to a cluster of {}, found {}", most,
                            setting.cluster.nodes.size(), before + added),
                {}, "add fewer nodes");
  }
  const auto made = nodes_like(world.cluster.nodes[end - 1], added, world.cluster);
  world.cluster.nodes.insert(world.cluster.nodes.begin() + end, made.begin(), made.end());
  grown.num_nodes += added;
  const auto renumber = [&](NodeId& node) {
    if (index(node) >= end) node = NodeId{static_cast<std::uint32_t>(index(node)) + added};
  };
  for (std::size_t later = index(*vc) + 1; later < world.cluster.vcs.size(); ++later) {
    renumber(world.cluster.vcs[later].first);
  }
  for (NodeId& node : world.present.drained) renumber(node);
  for (sim::Present::Job& job : world.present.running) {
    for (cluster::Grant& grant : job.held) renumber(grant.node);
  }
  return {};
}

Result<void> apply(const Change& change, const Setting& setting, const Known& known, World& world) {
  switch (change.kind) {
    case Change::Kind::cancel:
      return cancel(change, known, world);
    case Change::Kind::add_nodes:
      return add_nodes(change, setting, world);
    case Change::Kind::policy:
      break;
  }
  auto made = known.policy(change.policy);
  if (!made) return tl::unexpected(made.error());
  world.composition = std::move(*made);
  world.is_other_policy = true;
  return {};
}

std::size_t num_jobs(const sim::Present& present) {
  return present.waiting.size() + present.running.size() + present.throttled.size();
}

Shift::Times times_of(const Forecast& forecast, bool runs) {
  return {.start_by = runs ? kNoTime : forecast.started_by(kSure),
          .end_by = forecast.ended_by(kSure)};
}

}  // namespace

bool names(std::string_view asked, std::string_view id) {
  return id.starts_with(asked) && (id.size() == asked.size() || id[asked.size()] == '_');
}

Result<Change> parse_change(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  const auto is = [&](std::size_t at, const char* word) {
    return at < words.size() && words[at] == word;
  };
  if (words.size() == 2 && is(0, "cancel")) {
    return Change{.kind = Change::Kind::cancel, .job = words[1]};
  }
  if (words.size() == 2 && is(0, "policy")) {
    return Change{.kind = Change::Kind::policy, .policy = words[1]};
  }
  const bool in_vc = words.size() == 5 && is(3, "to");
  if (is(0, "add") && (words.size() == 3 || in_vc) && (is(2, "nodes") || is(2, "node"))) {
    Change made{.kind = Change::Kind::add_nodes, .vc = in_vc ? words[4] : ""};
    const char* const end = words[1].data() + words[1].size();
    const auto [rest, error] = std::from_chars(words[1].data(), end, made.nodes);
    if (error == std::errc{} && rest == end && made.nodes >= 1) return made;
    return fail(Code::usage,
                fmt::format("\"{}\": the number of nodes must be a whole number of 1 or more, "
                            "found \"{}\"",
                            text, words[1]),
                {}, kHint);
  }
  return fail(Code::usage, fmt::format("unknown change \"{}\"", text), {}, kHint);
}

std::string to_string(const Change& change) {
  switch (change.kind) {
    case Change::Kind::cancel:
      return "cancel " + change.job;
    case Change::Kind::policy:
      return "policy " + change.policy;
    case Change::Kind::add_nodes:
      break;
  }
  return fmt::format("add {} node{}{}{}", change.nodes, change.nodes == 1 ? "" : "s",
                     change.vc.empty() ? "" : " to ", change.vc);
}

Result<std::vector<Shift>> compare(const Setting& setting, const sim::Present& present,
                                   Beliefs& beliefs, std::span<const Change> changes,
                                   const Known& known, int futures, std::uint64_t seed) {
  World world{.cluster = setting.cluster, .composition = setting.composition, .present = present};
  for (const Change& each : changes) {
    if (const auto done = apply(each, setting, known, world); !done) {
      return tl::unexpected(done.error());
    }
  }
  const Setting changed{.trace = setting.trace,
                        .cluster = world.cluster,
                        .composition = world.composition,
                        .options = setting.options,
                        .kept = setting.kept,
                        .age_cap = setting.age_cap,
                        .site = setting.site,
                        .queues = setting.queues,
                        .drawn = &present};
  const auto before = play_queue(setting, present, beliefs, futures, seed);
  auto own = world.is_other_policy && known.own ? known.own(world.composition)
                                                : std::unordered_map<JobId, predict::Belief>{};
  const auto exchange_own = [&] {
    for (auto& [job, belief] : own) std::swap(beliefs.at(job).own, belief);
  };
  exchange_own();
  const auto after = play_queue(changed, world.present, beliefs, futures, seed);
  exchange_own();
  if (before.size() != num_jobs(present) || after.size() != num_jobs(world.present)) {
    return std::vector<Shift>{};
  }
  std::vector<Shift> made;
  std::size_t at = 0;
  std::size_t remaining = 0;
  const auto add = [&](JobId job, bool runs) {
    Shift& shift =
        made.emplace_back(Shift{.job = job, .runs = runs, .before = times_of(before[at++], runs)});
    const auto& gone = world.cancelled;
    shift.cancelled = std::find(gone.begin(), gone.end(), job) != gone.end();
    if (!shift.cancelled) shift.after = times_of(after[remaining++], runs);
  };
  for (const sim::Present::Job& each : present.waiting) add(each.job, false);
  for (const sim::Present::Job& each : present.running) add(each.job, true);
  for (const JobId job : present.throttled) add(job, false);
  return made;
}

}  // namespace almanac::forecast
