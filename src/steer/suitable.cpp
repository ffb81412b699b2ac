// SPDX-License-Identifier: Apache-2.0
#include "steer/suitable.h"

#include <algorithm>

#include "steer/mark.h"
#include "text/host_list.h"

namespace almanac::steer {
namespace {

using cluster::Amount;

std::vector<std::string> split_at(const std::string& text, char sign) {
  std::string words = text;
  std::replace(words.begin(), words.end(), sign, ',');
  return split_names(words);
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::string> hosts_of(const std::string& list) {
  return text::expand_hosts(list).value_or(std::vector<std::string>{});
}

std::int32_t part_of(std::int32_t total, std::size_t parts) {
  return static_cast<std::int32_t>((static_cast<std::size_t>(total) + parts - 1) / parts);
}

}  // namespace

std::optional<bool> has_features(const std::string& own, const std::string& asked) {
  if (asked.empty()) return true;
  const bool is_either = asked.find('|') != std::string::npos;
  const bool is_both = asked.find('&') != std::string::npos;
  if (asked.find_first_of("[]()*,!") != std::string::npos || (is_either && is_both)) {
    return std::nullopt;
  }
  const auto has = split_names(own);
  const auto wants = split_at(asked, is_either ? '|' : '&');
  const auto is_there = [&](const std::string& each) { return contains(has, each); };
  return is_either ? std::any_of(wants.begin(), wants.end(), is_there)
                   : std::all_of(wants.begin(), wants.end(), is_there);
}

bool Suitable::names_nodes(const manager::Job& job) {
  return !job.required_nodes.empty() && !is_marked(job);
}

bool Suitable::is_choosy(const manager::Job& job) {
  return names_nodes(job) || !job.excluded_nodes.empty() || !job.features.empty();
}

bool Suitable::may_run(const manager::Job& job, const manager::Node& node) const {
  const auto asked = split_names(job.partition);
  const bool is_of_partition =
      std::any_of(asked.begin(), asked.end(),
                  [&](const std::string& each) { return contains(node.partitions, each); });
  return is_of_partition && has_features(node.features, job.features).value_or(true);
}

const Suitable::Choice& Suitable::choice_of(const manager::Job& job) {
  const std::string named = names_nodes(job) ? job.required_nodes : "";
  const auto [at, is_new] =
      choices_.try_emplace({job.partition, named, job.excluded_nodes, job.features, job.gpu_type});
  Choice& made = at->second;
  if (!is_new) return made;
  const VcId vc = world_.vc_of(job.partition);
  const auto wanted = hosts_of(named);
  const auto unwanted = hosts_of(job.excluded_nodes);
  made.named = wanted.size();
  for (const auto& [name, node] : mirror_.nodes()) {
    const NodeId id = world_.part_for(job, name);
    if (id == kNoNode || world_.cluster.nodes[index(id)].vc != vc) continue;
    if (is_out(node) || contains(unwanted, name) || !may_run(job, node)) continue;
    made.nodes.push_back(id);
  }
  const auto others = std::stable_partition(made.nodes.begin(), made.nodes.end(), [&](NodeId id) {
    return contains(wanted, world_.cluster.nodes[index(id)].name);
  });
  made.is_possible = static_cast<std::size_t>(others - made.nodes.begin()) == made.named;
  return made;
}

bool Suitable::suits(const manager::Job& job, std::span<const cluster::Grant> held) {
  const Choice& choice = choice_of(job);
  const auto is_held = [&](NodeId node) {
    return std::any_of(held.begin(), held.end(),
                       [&](const cluster::Grant& grant) { return grant.node == node; });
  };
  const auto is_right = [&](const cluster::Grant& grant) {
    return grant.gpu_milli < cluster::kWholeGpu ||
           std::find(choice.nodes.begin(), choice.nodes.end(), grant.node) != choice.nodes.end();
  };
  if (!std::all_of(held.begin(), held.end(), is_right)) return false;
  const auto named = choice.nodes.begin() + static_cast<std::ptrdiff_t>(choice.named);
  return choice.is_possible && std::all_of(choice.nodes.begin(), named, is_held);
}

template <typename Room>
std::vector<Suitable::Piece> Suitable::lay(const manager::Job& job, const Amount& total,
                                           const Room& room) {
  const Choice& choice = choice_of(job);
  if (!choice.is_possible) return {};
  const auto asked = static_cast<std::size_t>(std::max(1, job.nodes));
  for (std::size_t count = std::max(asked, choice.named); count <= choice.nodes.size(); ++count) {
    const Amount each{part_of(total.gpus, count), part_of(total.cpu_milli, count),
                      part_of(total.memory_mb, count)};
    if (job.gpus_per_node > 0 && each.gpus > job.gpus_per_node) continue;
    if (job.gpus_per_node > 0 && each.gpus < job.gpus_per_node) return {};
    std::vector<Piece> made;
    std::int32_t gpus = total.gpus;
    for (std::size_t at = 0; at < choice.nodes.size() && made.size() < count; ++at) {
      if (!room(choice.nodes[at]).covers(each)) {
        if (at < choice.named) break;
        continue;
      }
      Amount amount = each;
      amount.gpus = std::min(each.gpus, gpus);
      gpus -= amount.gpus;
      made.push_back({choice.nodes[at], amount});
    }
    if (made.size() == count) return made;
    if (total.gpus <= static_cast<std::int32_t>(count)) return {};
  }
  return {};
}

std::vector<cluster::Grant> Suitable::take(const manager::Job& job, const Amount& total,
                                           cluster::Ledger& ledger) {
  std::vector<cluster::Grant> made;
  for (const Piece& piece : lay(job, total, [&](NodeId node) { return ledger.room(node); })) {
    if (!piece.amount.empty()) made.push_back(ledger.take(piece.node, piece.amount));
  }
  return made;
}

bool Suitable::has_room(const manager::Job& job, const Amount& total, const cluster::Ledger& ledger,
                        bool ever) {
  const auto room = [&](NodeId node) {
    if (!ever) return ledger.room(node);
    const cluster::NodeClass& all =
        world_.cluster.classes[world_.cluster.nodes[index(node)].node_class];
    return Amount{all.gpus, cluster::kUnbounded, cluster::kUnbounded};
  };
  return !lay(job, total, room).empty();
}

}  // namespace almanac::steer
