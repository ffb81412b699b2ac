// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_words.h"

#include <vector>

#include "text/host_list.h"

namespace almanac::reproduce {

std::optional<std::string_view> word_after(std::string_view line, std::string_view key,
                                           std::string_view ends) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(ends));
}

slurmctld::NodeBits nodes_in(const slurmctld::NodeTable& table, std::string_view list) {
  slurmctld::NodeBits bits(table.size());
  const auto names = text::expand_hosts(list);
  if (!names) return bits;
  for (const std::string& name : *names) {
    if (const auto node = table.find_node(name)) bits.insert(*node);
  }
  return bits;
}

std::string names_of(const slurmctld::NodeBits& nodes, const slurmctld::NodeTable& table) {
  std::vector<std::string> names;
  nodes.each([&](slurmctld::NodeAt node) { names.push_back(table.nodes[node].name); });
  return text::join_hosts(names);
}

}  // namespace almanac::reproduce
