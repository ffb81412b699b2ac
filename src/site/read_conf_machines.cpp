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
    // Both files may be one.
    std::vector<const Record*> devices;
    for (const auto& lines : {conf, gres}) {
      for (const Record& line : lines) {
        const bool is_device = (line.first == "nodename" || line.first == "name") &&
                               line.has("name") && !line.has("partitionname");
        if (is_device) devices.push_back(&line);
      }
    }
    if (site_.nodes.empty()) make_nodes(devices);
    for (const Record* const line : devices) take_devices(*line);
    for (const Record& line : conf) {
      if (line.first == "partitionname") take_partition(line);
    }
    if (!left_out_.empty()) {
      site_.notes.push_back(
          fmt::format("nodes with State=FUTURE are left out: {}", left_out_.size()));
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

  /// The nodes that gres.conf names, where no line describes them.
  void make_nodes(const std::vector<const Record*>& devices) {
    for (const Record* const line : devices) {
      for (const std::string& name : hosts(*line, "NodeName")) {
        if (!known_.emplace(name, static_cast<NodeIndex>(site_.nodes.size())).second) continue;
        site_.nodes.push_back({.name = name, .cpus = 0, .effective_cpus = 0});
      }
    }
    is_without_sizes_ = !site_.nodes.empty();
    if (is_without_sizes_) {
      site_.notes.emplace_back(
          "gres.conf alone has no cores, memory or partitions: give slurm.conf too");
    }
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
    if (line.has("nodename")) {
      for (const std::string& host : hosts(line, "NodeName")) {
        const auto found = known_.find(host);
        if (found != known_.end()) add_devices(told, site_.nodes[found->second]);
      }
      return;
    }
    for (Node& node : site_.nodes) add_devices(told, node);
  }

  void add_devices(const NodeGres& told, Node& node) {
    const std::pair key{node.name, told.name};
    // The first line for a node takes the place of what slurm.conf says without a type.
    if (const auto [left, is_first] = left_.emplace(key, node.count(told.name)); is_first) {
      const auto same = [&](const NodeGres& each) { return each.name == told.name; };
      const bool is_typed = std::any_of(node.gres.begin(), node.gres.end(), [&](const auto& each) {
        return same(each) && !each.type.empty();
      });
      if (is_typed)
        left->second = 0;
      else
        std::erase_if(node.gres, same);
    }
    // A node never has more than slurm.conf counts.
    std::int64_t& left = left_[key];
    NodeGres own = told;
    if (!is_without_sizes_) own.count = std::min(own.count, left);
    left -= own.count;
    if (own.count > 0) node.gres.push_back(std::move(own));
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
  /// Devices of slurm.conf that gres.conf has not described yet, by node and name.
  std::map<std::pair<std::string, std::string>, std::int64_t> left_;
  bool is_without_sizes_ = false;
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
