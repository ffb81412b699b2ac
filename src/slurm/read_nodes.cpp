// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>

#include "slurm/gres.h"
#include "slurm/json.h"
#include "slurm/node_words.h"
#include "slurm/read_json.h"
#include "text/host_list.h"

namespace almanac::slurm {
namespace {

std::vector<std::string> hosts(Value record, std::string_view path) {
  auto names = text::expand_hosts(text(record, path));
  if (!names) throw BadShape{to_string(names.error())};
  return std::move(*names);
}

std::string named(Value record, std::string_view key) {
  std::string name = text(record, key);
  if (name.empty()) throw BadShape{fmt::format("a record without {}", key)};
  return name;
}

std::vector<std::string> list_of(Value record, std::string_view key) {
  std::vector<std::string> made;
  std::string_view rest;
  const std::string all = text(record, key);
  for (rest = all; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    if (!item.empty()) made.emplace_back(item);
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
  }
  return made;
}

Node read_node(Value record) {
  Node node{.name = named(record, "name")};
  const std::string all = text(record, "gres");
  const auto gres = parse_gres(all);
  if (!gres)
    throw BadShape{fmt::format("node {}: gres must be like gpu:8: \"{}\"", node.name, all)};
  node.gpus = gres->gpus;
  node.gpu_type = gres->gpu_type;
  node.shards = gres->shards;
  node.mps = gres->mps;
  tell_types(*gres, node);
  node.cpus = number(record, "cpus").value_or(0);
  node.memory_gb = number(record, "real_memory").value_or(0) / kMibPerGb;
  node.weight = static_cast<std::uint32_t>(
      std::clamp(number(record, "weight").value_or(1), 0.0, double{UINT32_MAX}));
  node.partitions = list_of(record, "partitions");
  node.features = text(record, "active_features");
  node.reason = text(record, "reason");
  std::vector<std::string> states = words(record, "state");
  for (std::string& flag : words(record, "state_flags")) states.push_back(std::move(flag));
  read_node_words(states, node);
  node.busy = node.busy || number(record, "alloc_cpus").value_or(0) > 0;
  node.reserved = node.reserved || !text(record, "reservation").empty();
  return node;
}

Partition read_partition(Value record) {
  Partition made{.name = named(record, "name")};
  const bool is_older = find(record, "partition") == std::nullopt;  // until 22.05
  made.nodes = hosts(record, is_older ? "nodes" : "nodes/configured");
  const auto states = words(record, is_older ? "state" : "partition/state");
  made.up = has(states, "UP") || has(states, "DRAIN");  // which only takes no new jobs
  made.is_default = has(words(record, "flags"), "DEFAULT");
  made.priority_tier = static_cast<int>(
      std::min(number(record, is_older ? "priority_tier" : "priority/tier").value_or(1), 65535.0));
  const auto limit = number(record, is_older ? "max_time_limit" : "maximums/time");
  if (limit && *limit < 1e9) {
    made.max_time = std::chrono::minutes(static_cast<std::int64_t>(*limit));
  }
  made.oversubscribe = text(record, "maximums/oversubscribe/flags");
  return made;
}

Reservation read_reservation(Value record) {
  return {.name = named(record, "name"),
          .nodes = hosts(record, "node_list"),
          .start = moment(record, "start_time"),
          .end = moment(record, "end_time"),
          .users = text(record, "users"),
          .accounts = text(record, "accounts")};
}

Licence read_licence(Value record) {
  const auto count = [&](const char* key) {
    return static_cast<int>(std::min(number(record, key).value_or(0), 1e9));
  };
  return {.name = named(record, "LicenseName"), .total = count("Total"), .used = count("Used")};
}

}  // namespace

Result<std::vector<Node>> read_nodes(std::string_view json) {
  return read_each(json, "nodes", read_node);
}

Result<std::vector<Partition>> read_partitions(std::string_view json) {
  return read_each(json, "partitions", read_partition);
}

Result<std::vector<Reservation>> read_reservations(std::string_view json) {
  return read_each(json, "reservations", read_reservation);
}

Result<std::vector<Licence>> read_licences(std::string_view json) {
  return read_each(json, "licenses", read_licence);
}

Result<std::string> read_release(std::string_view json) {
  return read_document(json, "answers", [](Value document) {
    std::string release = text(document, "meta/Slurm/release");
    return release.empty() ? text(document, "meta/slurm/release") : release;
  });
}

Result<std::string> read_trouble(std::string_view json) {
  return read_document(json, "answers", [](Value document) {
    std::string made;
    const auto errors = find(document, "errors");
    simdjson::dom::array list;
    if (!errors || errors->get(list) != simdjson::SUCCESS) return made;
    for (const Value each : list) {
      std::string line = text(each, "error");
      if (line.empty()) line = text(each, "description");
      // 22.05 lists so, without an error, each part of an array that was changed.
      const bool went_well = line.starts_with("job array update");
      if (line.empty() || went_well) continue;
      if (!made.empty()) made += "; ";
      made += line;
    }
    return made;
  });
}

}  // namespace almanac::slurm
