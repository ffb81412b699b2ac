// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/read_machines.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::site {
namespace {

class TopologyReader {
 public:
  explicit TopologyReader(Site& site) : site_(site) {
    for (std::size_t at = 0; at < site.nodes.size(); ++at) {
      known_nodes_.emplace(site.nodes[at].name, static_cast<NodeIndex>(at));
    }
  }

  void read(std::span<const Record> records) {
    std::vector<std::vector<std::string>> below;
    for (const Record& record : records) {
      if (record.has("blocksizes") || record.has("blocksize")) read_sizes(record);
      const bool is_block = record.has("blockname");
      if (!is_block && !record.has("switchname")) continue;
      const std::string name = word(record, is_block ? "BlockName" : "SwitchName");
      const auto at = static_cast<std::uint32_t>(site_.switches.size());
      if (!position_.emplace(name, at).second) {
        throw BadValue{{Code::invalid, fmt::format("switch {} is listed twice", name), record.where,
                        "remove one of the lines"}};
      }
      Switch made{.name = name};
      below.push_back(hosts(record, "Switches"));
      // Higher switches of scontrol list the nodes of all those below.
      if (below.back().empty()) made.nodes = nodes_of(record);
      site_.switches.push_back(std::move(made));
      where_.push_back(record.where);
    }
    for (std::size_t at = 0; at < below.size(); ++at) connect(at, below[at]);
    for (std::size_t at = 0; at < site_.switches.size(); ++at) gather(at, 0);
  }

 private:
  void read_sizes(const Record& record) {
    const char* const key = record.has("blocksizes") ? "BlockSizes" : "BlockSize";
    site_.block_sizes.clear();
    for (const std::string& each : list(record, key)) {
      const auto value = text::parse_whole(each);
      if (!value || *value < 1) refuse(record, key, "a list of node counts like 4,8");
      site_.block_sizes.push_back(*value);
    }
  }

  std::vector<NodeIndex> nodes_of(const Record& record) const {
    std::vector<NodeIndex> made;
    for (const std::string& name : hosts(record, "Nodes")) {
      const auto node = known_nodes_.find(name);
      if (node != known_nodes_.end()) made.push_back(node->second);
    }
    std::sort(made.begin(), made.end());
    return made;
  }

  void connect(std::size_t at, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto found = position_.find(name);
      if (found == position_.end()) {
        throw BadValue{{Code::invalid, fmt::format("Switches must be SwitchNames, found {}", name),
                        where_[at], "add a line with SwitchName=" + name}};
      }
      site_.switches[at].below.push_back(found->second);
      Switch& child = site_.switches[found->second];
      if (child.parent < 0) child.parent = static_cast<std::int32_t>(at);
    }
  }

  /// Collects the nodes below a switch, and its level: 1 + the highest below.
  void gather(std::size_t at, std::size_t depth) {
    if (depth > site_.switches.size()) {
      throw BadValue{{Code::invalid,
                      fmt::format("switch {} is below itself", site_.switches[at].name), where_[at],
                      "correct the Switches of this line"}};
    }
    if (site_.switches[at].below.empty()) return;
    std::set<NodeIndex> nodes;
    int level = 0;
    for (const std::uint32_t child : site_.switches[at].below) {
      gather(child, depth + 1);
      nodes.insert(site_.switches[child].nodes.begin(), site_.switches[child].nodes.end());
      level = std::max(level, site_.switches[child].level + 1);
    }
    site_.switches[at].nodes.assign(nodes.begin(), nodes.end());
    site_.switches[at].level = level;
  }

  Site& site_;
  std::map<std::string, NodeIndex> known_nodes_;
  std::map<std::string, std::uint32_t> position_;
  std::vector<Where> where_;
};

}  // namespace

Result<void> read_topology(std::span<const Record> records, Site& site) {
  site.switches.clear();
  auto read = catching([&] {
    TopologyReader(site).read(records);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
