// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/node_values.h"
#include "site/read_machines.h"
#include "text/number.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;

/// "0-1,3" as numbers.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> made;
  for (const std::string& item : cluster::split_list(text)) {
    const auto dash = item.find('-');
    const auto from = text::parse_whole(item.substr(0, dash));
    const auto to = dash == std::string::npos ? from : text::parse_whole(item.substr(dash + 1));
    constexpr std::int64_t kMost = 100'000;
    if (!from || !to || *from < 0 || *to > kMost) continue;
    for (std::int64_t each = *from; each <= *to; ++each) made.push_back(static_cast<int>(each));
  }
  return made;
}

bool parse_item(std::string_view item, NodeGres& made) {
  const std::string_view plain = item.substr(0, item.find('('));
  const std::string_view detail = item.substr(plain.size());
  if (const auto at = detail.find("S:"); at != std::string_view::npos) {
    const std::string_view sockets = detail.substr(at + 2);
    made.sockets = numbers_of(sockets.substr(0, sockets.find(')')));
  }
  std::vector<std::string> parts;
  std::string_view rest = plain;
  for (;;) {
    const auto colon = rest.find(':');
    parts.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  std::erase(parts, "no_consume");
  if (parts.empty() || parts.front().empty() || parts.size() > 3) return false;
  made.name = parts.front();
  made.count = 1;
  if (parts.size() == 1) return true;
  std::string digits = in_lower_case(parts.back());
  std::int64_t factor = 1;
  for (const auto& [suffix, times] : {std::pair{'k', 1024}, {'m', 1024 * 1024}}) {
    if (digits.size() > 1 && digits.back() == suffix) {
      factor = times;
      digits.pop_back();
      break;
    }
  }
  const auto count = text::parse_whole(digits);
  if (count && *count >= 0 && *count <= 1'000'000'000) {
    made.count = *count * factor;
    parts.pop_back();
  } else if (parts.size() == 3) {
    return false;
  }
  if (parts.size() > 1) made.type = parts[1];
  return true;
}

/// "Not responding [slurm@2026-11-26T21:55:04]".
void read_reason(const Record& record, NodeState& state) {
  state.reason = word(record, "Reason");
  const auto open = state.reason.rfind(" [");
  if (open == std::string::npos || !state.reason.ends_with(']')) return;
  const std::string by = state.reason.substr(open + 2, state.reason.size() - open - 3);
  const auto at = by.find('@');
  if (at == std::string::npos) return;
  state.by = by.substr(0, at);
  Record when{.where = record.where};
  when.fields["reason"] = by.substr(at + 1);
  state.since = moment(when, "Reason");
  state.reason.resize(open);
}

/// Where Gres has no types, they may be among what is accounted: "cpu=48,gres/gpu:a100=4".
void add_types(const Record& record, std::vector<NodeGres>& gres) {
  if (gres.size() != 1 || gres.front().name != "gpu" || !gres.front().type.empty()) return;
  std::vector<NodeGres> typed;
  std::int64_t sum = 0;
  for (const std::string& item : list(record, "CfgTRES")) {
    constexpr std::string_view kTyped = "gres/gpu:";
    const auto equals = item.find('=');
    if (!item.starts_with(kTyped) || equals == std::string::npos) continue;
    const auto count = text::parse_whole(std::string_view(item).substr(equals + 1));
    if (!count) continue;
    typed.push_back({.name = "gpu",
                     .type = item.substr(kTyped.size(), equals - kTyped.size()),
                     .count = *count,
                     .sockets = gres.front().sockets});
    sum += *count;
  }
  if (!typed.empty() && sum == gres.front().count) gres = std::move(typed);
}

/// The partitions that nodes name, where nothing else tells of them.
void take_partitions(std::span<const Record> records, Site& site) {
  for (const Record& record : records) {
    const std::string name = word(record, "NodeName");
    // Here "all" is the name of a partition, not a word for every one.
    for (const std::string& each : cluster::split_list(word(record, "Partitions"))) {
      auto found = std::find_if(site.partitions.begin(), site.partitions.end(),
                                [&](const Partition& known) { return known.name == each; });
      if (found == site.partitions.end()) {
        found = site.partitions.insert(found, Partition{.name = each});
      }
      const Node* const node = site.find_node(name);
      if (node != nullptr) found->nodes.push_back(static_cast<NodeIndex>(node - site.nodes.data()));
    }
  }
}

}  // namespace

bool parse_node_gres(std::string_view text, std::vector<NodeGres>& made) {
  if (text.empty() || text == "(null)" || text == "N/A") return true;
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (text[at] != ',' || depth > 0) continue;
    }
    NodeGres item;
    if (!parse_item(text.substr(from, at - from), item)) return false;
    made.push_back(std::move(item));
    from = at + 1;
  }
  return true;
}

std::vector<NodeGres> node_gres(const Record& record, const std::string& key) {
  std::vector<NodeGres> made;
  if (!parse_node_gres(word(record, key), made)) refuse(record, key, "a list like gpu:a100:8");
  return made;
}

std::vector<int> core_list(const Record& record, const std::string& key) {
  return numbers_of(word(record, key));
}

NodeState node_state(const Record& record) {
  NodeState made{.word = word(record, "State")};
  std::string lower = in_lower_case(made.word);
  made.powered_down = lower.find('~') != std::string::npos;
  std::replace(lower.begin(), lower.end(), '+', ',');
  for (std::string each : cluster::split_list(lower)) {
    each.resize(std::min(each.size(), each.find_first_of("*~#!%$@^-")));
    if (each == "down" || each == "error") made.down = true;
    if (each == "drain" || each == "draining" || each == "drained") made.drain = true;
    if (each == "fail" || each == "failing") made.fail = true;
    if (each == "maint") made.maintenance = true;
    if (each == "reserved") made.reserved = true;
    if (each == "powered_down" || each == "power_down" || each == "power") made.powered_down = true;
    if (each == "future") made.future = true;
  }
  read_reason(record, made);
  return made;
}

void read_size(const Record& record, Node& node) {
  node.cpus = whole_int(record, "CPUTot", whole_int(record, "CPUs", 0));
  node.boards = std::max(1, whole_int(record, "Boards", 1));
  node.cores_per_socket = std::max(1, whole_int(record, "CoresPerSocket", 1));
  node.threads_per_core = std::max(1, whole_int(record, "ThreadsPerCore", 1));
  const int sockets =
      whole_int(record, "Sockets", node.boards * whole_int(record, "SocketsPerBoard", 0));
  const int per_socket = node.cores_per_socket * node.threads_per_core;
  node.sockets = sockets > 0 ? sockets : std::max(1, node.cpus / per_socket);
  if (node.cpus == 0) node.cpus = node.sockets * per_socket;
  node.memory_mb = whole(record, "RealMemory", 1);
  node.reserved_memory_mb = whole(record, "MemSpecLimit", 0);
  node.disk_mb = whole(record, "TmpDisk", 0);
  const bool counts_threads = node.cpus > node.sockets * node.cores_per_socket;
  const int set_aside =
      std::max(whole_int(record, "CoreSpecCount", 0) * (counts_threads ? node.threads_per_core : 1),
               static_cast<int>(core_list(record, "CPUSpecList").size()));
  node.effective_cpus = whole_int(record, "CPUEfctv", std::max(0, node.cpus - set_aside));
  node.weight = static_cast<std::uint32_t>(std::min<std::int64_t>(
      whole(record, "Weight", 1), std::numeric_limits<std::uint32_t>::max()));
}

void number_config_records(Site& site) {
  using Kind =
      std::tuple<int, int, int, int, std::int64_t, std::int64_t, std::uint32_t,
                 std::vector<std::string>, std::vector<std::pair<std::string, std::int64_t>>>;
  std::map<Kind, std::uint32_t> known;
  for (Node& node : site.nodes) {
    std::vector<std::pair<std::string, std::int64_t>> gres;
    for (const NodeGres& each : node.gres)
      gres.emplace_back(each.name + ":" + each.type, each.count);
    const Kind kind{node.cpus,
                    node.sockets,
                    node.cores_per_socket,
                    node.threads_per_core,
                    node.memory_mb,
                    node.disk_mb,
                    node.weight,
                    node.features,
                    gres};
    const auto next = static_cast<std::uint32_t>(known.size());
    node.config_record = known.emplace(kind, next).first->second;
  }
}

Result<void> read_nodes(std::span<const Record> records, Site& site) {
  auto read = catching([&] {
    std::set<std::string> seen;
    std::map<std::string, std::size_t> known;
    for (std::size_t at = 0; at < site.nodes.size(); ++at) known[site.nodes[at].name] = at;
    const bool has_conf = !site.nodes.empty();
    for (const Record& record : records) {
      const std::string name = word(record, "NodeName");
      if (!seen.insert(name).second) {
        throw BadValue{{Code::invalid, fmt::format("node {} is listed twice", name), record.where,
                        "remove one of the records"}};
      }
      NodeState state = node_state(record);
      const auto found = known.find(name);
      if (state.future) continue;
      if (found == known.end()) {
        known[name] = site.nodes.size();
        site.nodes.push_back({.name = name});
      }
      Node& node = found == known.end() ? site.nodes.back() : site.nodes[found->second];
      read_size(record, node);
      node.state = std::move(state);
      node.features = list(record, "AvailableFeatures");
      node.active_features = list(record, "ActiveFeatures");
      std::vector<NodeGres> gres = node_gres(record, "Gres");
      add_types(record, gres);
      // Sockets are known only here, cores only by gres.conf.
      for (NodeGres& each : gres) {
        const auto same = std::find_if(node.gres.begin(), node.gres.end(), [&](const NodeGres& of) {
          return of.name == each.name && of.type == each.type && of.count == each.count;
        });
        if (same != node.gres.end()) each.cores = same->cores;
      }
      const bool has_more = node.gres.size() > gres.size();
      if (!has_more) node.gres = std::move(gres);
    }
    if (!has_conf) number_config_records(site);
    if (site.partitions.empty()) take_partitions(records, site);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
