// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/node_table.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

void set_hops(std::vector<Switch>& switches, const std::vector<SwitchLine>& lines) {
  const std::size_t count = switches.size();
  for (std::size_t at = 0; at < count; ++at) {
    switches[at].hops.assign(count, Switch::kUnreachable);
    switches[at].hops[at] = 0;
  }
  for (std::size_t at = 0; at < count; ++at) {
    for (const std::size_t child : lines[at].children) {
      switches[at].hops[child] = switches[child].hops[at] = 1;
    }
  }
  for (std::size_t over = 0; over < count; ++over) {
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        const int through = switches[from].hops[over] + switches[over].hops[to];
        switches[from].hops[to] = std::min(switches[from].hops[to], through);
      }
    }
  }
}

}  // namespace

void set_switches(NodeTable& table, const std::vector<SwitchLine>& lines) {
  table.switches.clear();
  for (std::size_t at = 0; at < lines.size(); ++at) {
    Switch each{.name = lines[at].name, .nodes = NodeBits(table.size()), .parent = at};
    for (const NodeAt node : lines[at].nodes) each.nodes.insert(node);
    table.switches.push_back(std::move(each));
  }
  // A line may name switches of later lines: each round lifts one more level.
  for (std::size_t round = 0; round < lines.size(); ++round) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      for (const std::size_t child : lines[at].children) {
        table.switches[child].parent = at;
        table.switches[at].level =
            std::max(table.switches[at].level, table.switches[child].level + 1);
        table.switches[at].nodes |= table.switches[child].nodes;
      }
    }
  }
  set_hops(table.switches, lines);
}

}  // namespace almanac::slurmctld
