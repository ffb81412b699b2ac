// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/node_values.h"
#include "site/read_machines.h"
#include "text/host_list.h"
#include "text/nearest.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;

class ConfMachines {
 public:
  explicit ConfMachines(Site& site) : site_(site) {}

  void read(std::span<const Record> conf, std::span<const Record> gres) {
    for (const Record& line : conf) {
      if (line.first == "nodename") take_node(line);
      if (line.first == "nodeset") sets_[word(line, "NodeSet")] = &line;
      if (line.first == "downnodes") take_down_nodes(line);
    }
    for (const Record& line : gres) {
      if (line.first == "nodename" || line.first == "name") take_devices(line);
    }
    for (const Record& line : conf) {
      if (line.first == "partitionname") take_partition(line);
    }
  }

 private:
  static bool is_default(std::string_view name) { return in_lower_case(name) == "default"; }

  static Record with_defaults(const Record& line, const Record& defaults) {
    Record made = line;
    made.fields.insert(defaults.fields.begin(), defaults.fields.end());
    return made;
  }

  void take_node(const Record& line) {
    if (line.has("name")) return;  // of gres.conf, in one file
    if (is_default(word(line, "NodeName"))) {
      for (const auto& [key, value] : line.fields) node_defaults_.fields[key] = value;
      return;
    }
    Record record = with_defaults(line, node_defaults_);
    const NodeState state = node_state(record);
    for (const std::string& name : hosts(record, "NodeName")) {
      if (state.future) {
        left_out_.insert(name);
        continue;
      }
      if (!known_.emplace(name, static_cast<NodeIndex>(site_.nodes.size())).second) {
        throw BadValue{{Code::invalid, fmt::format("node {} is listed twice", name), line.where,
                        "remove it from one of the NodeName lines"}};
      }
      Node node{.name = name, .state = state, .config_record = next_record_};
      read_size(record, node);
      node.gres = node_gres(record, "Gres");
      node.features = list(record, record.has("feature") ? "Feature" : "Features");
      node.active_features = node.features;
      site_.nodes.push_back(std::move(node));
    }
    ++next_record_;
  }

  void take_down_nodes(const Record& line) {
    Record record = line;
    if (!record.has("state")) record.fields["state"] = "DOWN";
    const NodeState state = node_state(record);
    for (const std::string& name : hosts(record, "DownNodes")) {
      const auto found = known_.find(name);
      if (found != known_.end()) site_.nodes[found->second].state = state;
    }
  }

  /// slurm.conf says how many a node has; gres.conf says of what type, and near which cores.
  void take_devices(const Record& line) {
    const std::string name = in_lower_case(word(line, "Name"));
    if (name.empty()) return;
    std::int64_t files = 1;
    const char* const key = line.has("file") ? "File" : "MultipleFiles";
    if (const std::string file = word(line, key); !file.empty()) {
      const auto names = text::expand_hosts(file);
      if (!names) refuse(line, key, "like /dev/nvidia[0-7]");
      files = static_cast<std::int64_t>(names->size());
    }
    NodeGres told{.name = name,
                  .type = word(line, "Type"),
                  .count = whole(line, "Count", files),
                  .cores = core_list(line, line.has("cores") ? "Cores" : "CPUs")};
    const auto add_to = [&](Node& node) {
      // The first line of a node replaces what slurm.conf says without a type.
      const bool is_first = with_devices_.insert({node.name, name}).second;
      std::vector<NodeGres>& gres = node.gres;
      const auto is_same = [&](const NodeGres& each) { return each.name == name; };
      const std::int64_t counted = node.count(name);
      if (is_first) {
        counted_[{node.name, name}] = counted;
        std::erase_if(gres, is_same);
      }
      // A node never has more than slurm.conf counts.
      const std::int64_t most = counted_[{node.name, name}];
      NodeGres own = told;
      own.count = std::min(own.count, std::max<std::int64_t>(0, most - (is_first ? 0 : counted)));
      if (own.count > 0) gres.push_back(std::move(own));
    };
    if (line.has("nodename")) {
      for (const std::string& host : hosts(line, "NodeName")) {
        const auto found = known_.find(host);
        if (found != known_.end() && site_.nodes[found->second].count(name) > 0) {
          add_to(site_.nodes[found->second]);
        }
      }
      return;
    }
    for (Node& node : site_.nodes) {
      if (node.count(name) > 0) add_to(node);
    }
  }

  /// The nodes that a list names: nodes, sets of them, ALL.
  void add_nodes(const std::string& text, const Record& of, int depth,
                 std::set<NodeIndex>& made) const {
    const auto items = text::expand_hosts(text);
    if (!items) refuse(of, "Nodes", "a list of nodes such as n[01-08]");
    for (const std::string& item : *items) {
      const auto set = sets_.find(item);
      const auto node = known_.find(item);
      if (in_lower_case(item) == "all") {
        for (std::size_t at = 0; at < site_.nodes.size(); ++at) {
          made.insert(static_cast<NodeIndex>(at));
        }
      } else if (set != sets_.end() && depth < 10) {
        add_nodes(word(*set->second, "Nodes"), of, depth + 1, made);
        const std::string feature = word(*set->second, "Feature");
        for (std::size_t at = 0; at < site_.nodes.size() && !feature.empty(); ++at) {
          const auto& has = site_.nodes[at].features;
          if (std::find(has.begin(), has.end(), feature) != has.end()) {
            made.insert(static_cast<NodeIndex>(at));
          }
        }
      } else if (node != known_.end()) {
        made.insert(node->second);
      } else if (left_out_.count(item) == 0) {
        std::vector<std::string> known;
        for (const Node& each : site_.nodes) known.push_back(each.name);
        throw BadValue{{Code::invalid,
                        fmt::format("Nodes must be NodeNames or NodeSets, found {}", item),
                        of.where, text::did_you_mean(item, known)}};
      }
    }
  }

  void take_partition(const Record& line) {
    if (is_default(word(line, "PartitionName"))) {
      for (const auto& [key, value] : line.fields) partition_defaults_.fields[key] = value;
      return;
    }
    Record record = with_defaults(line, partition_defaults_);
    const std::vector<std::string> names = cluster::split_list(word(line, "PartitionName"));
    Partition made = partition_of(record, site_.tres, site_.unknown);
    std::set<NodeIndex> nodes;
    add_nodes(word(record, "Nodes"), record, 0, nodes);
    made.nodes.assign(nodes.begin(), nodes.end());
    for (const std::string& name : names) {
      made.name = name;
      site_.partitions.push_back(made);
    }
  }

  Site& site_;
  Record node_defaults_;
  Record partition_defaults_;
  std::map<std::string, const Record*> sets_;
  std::map<std::string, NodeIndex> known_;
  std::set<std::string> left_out_;
  std::set<std::pair<std::string, std::string>> with_devices_;
  std::map<std::pair<std::string, std::string>, std::int64_t> counted_;
  std::uint32_t next_record_ = 0;
};

}  // namespace

Result<void> read_conf_machines(std::span<const Record> conf, std::span<const Record> gres,
                                Site& site) {
  auto read = catching([&] {
    ConfMachines(site).read(conf, gres);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
