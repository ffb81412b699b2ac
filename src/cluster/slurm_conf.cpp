// SPDX-License-Identifier: Apache-2.0
//
// The nodes of slurm.conf and gres.conf.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/conf_file.h"
#include "cluster/slurm_file.h"
#include "cluster/slurm_words.h"
#include "table/stream.h"
#include "text/host_list.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::cluster {
namespace {

namespace fs = std::filesystem;

bool is_default(std::string_view name) { return in_lower_case(name) == "default"; }

/// What gres.conf says of the GPUs, shards or MPS of some nodes.
struct Devices {
  std::set<std::string> nodes{};  ///< Empty = of all.
  std::string name{};
  std::string type{};
  int count = 0;
};

struct ConfPartition {
  std::string name{};
  std::string nodes{};
  Where where{};
};

struct NodeSet {
  std::string nodes{};
  std::string feature{};
};

class ConfReader {
 public:
  Result<SlurmSite> read(const std::string& path, std::string_view text) {
    if (auto done = read_entries(path, text); !done) return tl::unexpected(done.error());
    const fs::path beside = fs::path(path).parent_path() / "gres.conf";
    std::error_code ignored;
    const bool is_other =
        fs::path(path).filename() != "gres.conf" && fs::is_regular_file(beside, ignored);
    if (is_other && devices_.empty()) {
      const auto gres = table::read_text_file(beside.string());
      if (!gres) return tl::unexpected(gres.error());
      if (auto done = read_entries(beside.string(), *gres); !done) {
        return tl::unexpected(done.error());
      }
      site_.notes.push_back(fmt::format("types of GPUs are those of {}", beside.string()));
    }
    if (nodes_from_devices_) {
      if (auto made = make_nodes_from_devices(path); !made) return tl::unexpected(made.error());
    }
    apply_devices();
    if (auto joined = join_partitions(); !joined) return tl::unexpected(joined.error());
    if (site_.nodes.empty()) {
      return fail(Code::invalid, "no NodeName line names a node", {.file = path}, kHint);
    }
    const bool any = std::any_of(site_.nodes.begin(), site_.nodes.end(),
                                 [](const SlurmNode& node) { return node.gres.gpus > 0; });
    if (!any) {
      return fail(Code::invalid, "no NodeName line has GPUs (Gres=gpu:TYPE:N), nor has gres.conf",
                  {.file = path}, kHint);
    }
    if (future_ > 0) {
      site_.notes.push_back(fmt::format("nodes with State=FUTURE left out: {}", future_));
    }
    return std::move(site_);
  }

 private:
  static constexpr const char* kHint =
      "give slurm.conf with gres.conf next to it, or the output of scontrol show nodes";

  Result<void> read_entries(const std::string& path, std::string_view text) {
    const auto entries = read_conf_file(path, text);
    if (!entries) return tl::unexpected(entries.error());
    for (const ConfEntry& entry : *entries) {
      if (auto done = take(entry); !done) return done;
    }
    return {};
  }

  Result<void> take(const ConfEntry& entry) {
    if (entry.has("name") && (entry.first == "nodename" || entry.first == "name")) {
      return take_devices(entry);
    }
    if (entry.first == "nodename") return take_node(entry);
    if (entry.first == "nodeset") {
      sets_[entry.get("nodeset")] = {entry.get("nodes"), entry.get("feature")};
    } else if (entry.first == "partitionname") {
      take_partition(entry);
    }
    return {};
  }

  static Error at(const ConfEntry& entry, std::string message) {
    return Error{Code::invalid, std::move(message), entry.where};
  }

  Result<int> count_in(const ConfEntry& entry, const char* key, int missing) {
    const std::string text = entry.get(key);
    if (text.empty()) return missing;
    const auto value = text::parse_whole(text);
    if (value && *value >= 0 && *value <= 1'000'000'000) return static_cast<int>(*value);
    return tl::unexpected(
        at(entry, fmt::format("{} must be a whole number of 0 or more: \"{}\"", key, text)));
  }

  Result<std::vector<std::string>> hosts_in(const ConfEntry& entry, const std::string& list) {
    auto hosts = text::expand_hosts(list);
    if (!hosts) return tl::unexpected(at(entry, hosts.error().message));
    return hosts;
  }

  Result<void> take_node(const ConfEntry& own) {
    const std::string list = own.get("nodename");
    if (is_default(list)) {
      for (const auto& [key, value] : own.fields) node_defaults_[key] = value;
      return {};
    }
    ConfEntry entry = own;
    entry.fields.insert(node_defaults_.begin(), node_defaults_.end());
    const std::string state = in_lower_case(entry.get("state"));
    const auto hosts = hosts_in(entry, list);
    if (!hosts) return tl::unexpected(hosts.error());
    if (state.starts_with("future")) {
      future_ += hosts->size();
      for (const std::string& host : *hosts) left_out_.insert(host);
      return {};
    }
    SlurmNode node{.where = entry.where};
    node.is_out = state.starts_with("down") || state.starts_with("drain") || state == "fail";
    const auto gres = text::parse_gres(entry.get("gres"));
    if (!gres) {
      return tl::unexpected(
          at(entry, fmt::format("Gres must be like gpu:a100:8: \"{}\"", entry.get("gres"))));
    }
    node.gres = *gres;
    if (auto done = read_size(entry, node); !done) return done;
    for (const std::string& host : *hosts) {
      if (!position_.emplace(host, site_.nodes.size()).second) {
        return tl::unexpected(at(entry, fmt::format("node {} is listed twice", host)));
      }
      node.name = host;
      site_.nodes.push_back(node);
      features_.push_back("," + entry.get(entry.has("feature") ? "feature" : "features") + ",");
    }
    return {};
  }

  Result<void> read_size(const ConfEntry& entry, SlurmNode& node) {
    std::map<std::string, int> counts;
    for (const char* const key : {"cpus", "procs", "boards", "sockets", "socketsperboard",
                                  "corespersocket", "threadspercore", "realmemory"}) {
      const bool is_size = std::string_view(key) == "cpus" || std::string_view(key) == "procs" ||
                           std::string_view(key) == "realmemory";
      const auto count = count_in(entry, key, is_size ? 0 : 1);
      if (!count) return tl::unexpected(count.error());
      counts[key] = *count;
    }
    node.memory_gb = counts["realmemory"] / 1024.0;
    node.cpus = std::max(counts["cpus"], counts["procs"]);
    if (node.cpus == 0) {
      const bool says = entry.has("sockets") || entry.has("socketsperboard") ||
                        entry.has("corespersocket") || entry.has("threadspercore");
      const double sockets = entry.has("sockets")
                                 ? counts["sockets"]
                                 : 1.0 * counts["boards"] * counts["socketsperboard"];
      if (says) node.cpus = sockets * counts["corespersocket"] * counts["threadspercore"];
    }
    constexpr double kMost = 1e6;
    if (node.cpus > kMost || node.memory_gb > kMost) {
      return tl::unexpected(at(entry, fmt::format("a node has at most {} cores and GB", kMost)));
    }
    return {};
  }

  void take_partition(const ConfEntry& own) {
    if (is_default(own.get("partitionname"))) {
      for (const auto& [key, value] : own.fields) partition_defaults_[key] = value;
      return;
    }
    ConfEntry entry = own;
    entry.fields.insert(partition_defaults_.begin(), partition_defaults_.end());
    for (const std::string& name : split_list(entry.get("partitionname"))) {
      partitions_.push_back({name, entry.get("nodes"), entry.where});
    }
  }

  Result<void> take_devices(const ConfEntry& entry) {
    Devices devices{.name = in_lower_case(entry.get("name")), .type = entry.get("type")};
    if (devices.name != "gpu" && devices.name != "shard" && devices.name != "mps") return {};
    if (entry.has("nodename")) {
      const auto hosts = hosts_in(entry, entry.get("nodename"));
      if (!hosts) return tl::unexpected(hosts.error());
      devices.nodes.insert(hosts->begin(), hosts->end());
    }
    const std::string file = entry.get(entry.has("file") ? "file" : "multiplefiles");
    int files = 1;
    if (!file.empty()) {
      const auto names = text::expand_hosts(file);
      if (!names) {
        return tl::unexpected(
            at(entry, fmt::format("File must be like /dev/nvidia[0-7]: \"{}\"", file)));
      }
      files = static_cast<int>(names->size());
    }
    const auto count = count_in(entry, "count", files);
    if (!count) return tl::unexpected(count.error());
    devices.count = *count;
    nodes_from_devices_ = nodes_from_devices_ || !devices.nodes.empty();
    devices_.push_back(std::move(devices));
    return {};
  }

  /// gres.conf alone names nodes as well.
  Result<void> make_nodes_from_devices(const std::string& path) {
    if (!site_.nodes.empty()) return {};
    for (const Devices& devices : devices_) {
      for (const std::string& host : devices.nodes) {
        if (!position_.emplace(host, site_.nodes.size()).second) continue;
        site_.nodes.push_back({.name = host, .where = {path}});
        features_.emplace_back();
      }
    }
    site_.notes.emplace_back("gres.conf alone has no cores, memory or partitions: give slurm.conf");
    return {};
  }

  /// Slurm counts what slurm.conf says; gres.conf adds types, and counts where that says none.
  void apply_devices() {
    for (SlurmNode& node : site_.nodes) {
      text::Gres told;
      for (const Devices& devices : devices_) {
        const bool is_its =
            devices.nodes.empty() ? node.gres.gpus > 0 : devices.nodes.count(node.name) > 0;
        if (!is_its) continue;
        if (devices.name == "shard") told.shards += devices.count;
        if (devices.name == "mps") told.mps += devices.count;
        if (devices.name != "gpu") continue;
        told.gpus += devices.count;
        if (devices.type.empty()) continue;
        const auto known =
            std::find_if(told.types.begin(), told.types.end(),
                         [&](const auto& each) { return each.type == devices.type; });
        if (known == told.types.end()) {
          told.types.push_back({devices.type, devices.count});
        } else {
          known->count += devices.count;
        }
      }
      if (node.gres.gpus == 0) node.gres.gpus = told.gpus;
      if (node.gres.shards == 0) node.gres.shards = told.shards;
      if (node.gres.mps == 0) node.gres.mps = told.mps;
      if (!node.gres.types.empty() || told.types.empty()) continue;
      node.gres.types = told.types;
      if (told.types.size() == 1) node.gres.types.front().count = node.gres.gpus;
    }
  }

  /// The nodes that a partition's list, or a set's, names: nodes, sets of them, ALL.
  Result<std::vector<std::string>> nodes_in(const std::string& list, const ConfPartition& of,
                                            int depth) {
    std::vector<std::string> made;
    auto items = text::expand_hosts(list);
    if (!items) return fail(Code::invalid, items.error().message, of.where);
    for (std::string& item : *items) {
      const auto set = sets_.find(item);
      if (in_lower_case(item) == "all") {
        for (const SlurmNode& node : site_.nodes) made.push_back(node.name);
      } else if (set != sets_.end() && depth < 10) {
        auto own = nodes_in(set->second.nodes, of, depth + 1);
        if (!own) return own;
        made.insert(made.end(), own->begin(), own->end());
        for (std::size_t at = 0; at < site_.nodes.size(); ++at) {
          const bool has = !set->second.feature.empty() &&
                           features_[at].find("," + set->second.feature + ",") != std::string::npos;
          if (has) made.push_back(site_.nodes[at].name);
        }
      } else if (position_.count(item) > 0) {
        made.push_back(std::move(item));
      } else if (left_out_.count(item) == 0) {
        std::vector<std::string> known;
        for (const SlurmNode& node : site_.nodes) known.push_back(node.name);
        return fail(Code::invalid,
                    fmt::format("partition {} names {}, which is neither a NodeName nor a NodeSet",
                                of.name, item),
                    of.where, text::did_you_mean(item, known));
      }
    }
    return made;
  }

  Result<void> join_partitions() {
    site_.tells_partitions = !partitions_.empty();
    for (const ConfPartition& partition : partitions_) {
      const auto names = nodes_in(partition.nodes, partition, 0);
      if (!names) return tl::unexpected(names.error());
      for (const std::string& name : *names) {
        std::vector<std::string>& of = site_.nodes[position_.at(name)].partitions;
        if (std::find(of.begin(), of.end(), partition.name) == of.end())
          of.push_back(partition.name);
      }
    }
    return {};
  }

  SlurmSite site_;
  std::vector<std::string> features_;            // of each node, with commas around each
  std::map<std::string, std::size_t> position_;  // of each node
  std::set<std::string> left_out_;
  std::size_t future_ = 0;
  std::map<std::string, std::string> node_defaults_;
  std::map<std::string, std::string> partition_defaults_;
  std::map<std::string, NodeSet> sets_;
  std::vector<ConfPartition> partitions_;
  std::vector<Devices> devices_;
  bool nodes_from_devices_ = false;
};

}  // namespace

Result<SlurmSite> read_slurm_conf(const std::string& path, std::string_view text) {
  return ConfReader().read(path, text);
}

}  // namespace almanac::cluster
