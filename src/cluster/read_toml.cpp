// SPDX-License-Identifier: Apache-2.0
#include "cluster/read_toml.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "cluster/cell_plan.h"
#include "cluster/read.h"
#include "table/stream.h"
#include "text/datetime.h"
#include "text/nearest.h"
#include "text/toml_reader.h"

namespace almanac::cluster {
namespace {

/// Most NVLinks between two GPUs; a GPU of today has 18 in all.
constexpr int kMostLinks = 64;

constexpr std::int64_t kMostNodes = 1'000'000;

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Cluster read(const toml::table& file) {
    allow(file, {"takes_every_job", "node", "vc", "change", "tenant", "qos", "switch", "storage"});
    made_.takes_every_job = value<bool>(file, "takes_every_job", false);
    NodeClass usual;
    if (const toml::table* const node = table(file, "node")) {
      allow_kind(*node, {});
      usual = node_class(*node, usual);
    }
    for (const toml::table* const vc : tables(file, "vc")) read_vc(*vc, usual);
    if (made_.nodes.empty()) refuse(file, "a cluster needs at least one [[vc]] with nodes");
    if (made_.takes_every_job && made_.vcs.size() > 1) {
      refuse(file, "takes_every_job needs exactly one [[vc]]");
    }
    for (const toml::table* const change : tables(file, "change")) read_change(*change);
    for (const toml::table* const tenant : tables(file, "tenant")) read_tenant(*tenant);
    for (const toml::table* const qos : tables(file, "qos")) read_qos(*qos);
    for (const toml::table* const each : tables(file, "switch")) read_switch(*each);
    if (const toml::table* const storage = table(file, "storage")) read_storage(*storage);
    std::stable_sort(made_.changes.begin(), made_.changes.end(),
                     [](const CapacityChange& a, const CapacityChange& b) { return a.at < b.at; });
    return std::move(made_);
  }

 private:
  const toml::array& array(const toml::node& node) {
    if (const auto* found = node.as_array()) return *found;
    refuse(node, "expected a list, written [...]");
  }

  template <typename T>
  T value(const toml::table& from, const char* key, T missing) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return missing;
    if (const auto found = node->value<T>()) return *found;
    constexpr const char* kind = std::is_same_v<T, std::string> ? "a string"
                                 : std::is_same_v<T, bool>      ? "true or false"
                                 : std::is_integral_v<T>        ? "a whole number"
                                                                : "a number";
    refuse(*node, fmt::format("{} must be {}", key, kind));
  }

  std::int64_t whole(const toml::table& from, const char* key, std::int64_t missing,
                     std::int64_t least, std::int64_t most) {
    const std::int64_t found = value<std::int64_t>(from, key, missing);
    if (found < least || found > most) {
      refuse(*from.get(key), fmt::format("{} must be {} to {}, found {}", key, least, most, found));
    }
    return found;
  }

  double amount(const toml::table& from, const char* key, double missing) {
    constexpr double kMost = 1e6;
    const auto found = value<double>(from, key, missing);
    if (!(found >= 0 && found <= kMost)) {
      refuse(*from.get(key), fmt::format("{} must be 0 to {}, found {}", key, kMost, found));
    }
    return found;
  }

  /// Refuses a key that neither says of what kind a node is nor is among `others`.
  void allow_kind(const toml::table& from, std::vector<std::string> others) {
    for (const char* const key :
         {"gpus", "gpu_type", "cpus", "memory_gb", "bandwidth_gbs", "gpu_power_limit_w", "sockets",
          "connections", "uplink_gbps", "sharing", "board", "gpu_memory_gb", "instance_s",
          "shards_per_gpu", "mps_per_gpu", "nvlink_domain"}) {
      others.emplace_back(key);
    }
    allow(from, others);
  }

  NodeClass node_class(const toml::table& from, const NodeClass& usual) {
    NodeClass made;
    made.gpus = static_cast<int>(whole(from, "gpus", usual.gpus, 0, kMaxGpusPerNode));
    made.gpu_type = value<std::string>(from, "gpu_type", usual.gpu_type);
    made.cpus = amount(from, "cpus", usual.cpus);
    made.memory_gb = amount(from, "memory_gb", usual.memory_gb);
    made.bandwidth_gbs = amount(from, "bandwidth_gbs", usual.bandwidth_gbs);
    made.gpu_power_limit_w = amount(from, "gpu_power_limit_w", usual.gpu_power_limit_w);
    made.uplink_gbps = amount(from, "uplink_gbps", usual.uplink_gbps);
    made.gpu_memory_gb = amount(from, "gpu_memory_gb", usual.gpu_memory_gb);
    constexpr std::int64_t kMostParts = 10'000;
    made.shards_per_gpu =
        static_cast<int>(whole(from, "shards_per_gpu", usual.shards_per_gpu, 0, kMostParts));
    made.mps_per_gpu =
        static_cast<int>(whole(from, "mps_per_gpu", usual.mps_per_gpu, 0, kMostParts));
    read_sharing(from, usual, made);
    made.nvlink_domain = nvlink_domain(from, usual);
    made.sockets = static_cast<int>(whole(from, "sockets", usual.sockets, 1, kMaxGpusPerNode));
    if (made.gpus % made.sockets != 0) {
      const toml::node* const said = from.get(from.contains("sockets") ? "sockets" : "gpus");
      refuse(
          said == nullptr ? from : *said,
          fmt::format("{} GPUs cannot be spread evenly over {} sockets", made.gpus, made.sockets));
    }
    made.connections = from.contains("connections") ? connections(from, made) : usual.connections;
    const bool is_of_others =
        std::any_of(made.connections.begin(), made.connections.end(),
                    [&](const Connection& each) { return each.gpus.back() >= made.gpus; });
    if (is_of_others) {
      refuse(*from.get("gpus"),
             fmt::format("the connections include more than these {} GPUs", made.gpus),
             "add the connections of these nodes too, or connections = []");
    }
    if (made.sockets > 1 && tells_sockets(made)) {
      refuse(*from.get(from.contains("connections") ? "connections" : "sockets"),
             "sockets are given twice: by sockets and by connections",
             "leave out sockets if they differ in size");
    }
    return made;
  }

  NvlinkDomain nvlink_domain(const toml::table& from, const NodeClass& usual) {
    const toml::node* const said = from.get("nvlink_domain");
    if (said == nullptr) return usual.nvlink_domain;
    const std::string word = value<std::string>(from, "nvlink_domain", "");
    if (word != "node" && word != "rack") {
      refuse(*said, fmt::format("nvlink_domain must be node or rack, not \"{}\"", word));
    }
    return word == "rack" ? NvlinkDomain::rack : NvlinkDomain::node;
  }

  void read_sharing(const toml::table& from, const NodeClass& usual, NodeClass& made) {
    made.sharing = usual.sharing;
    made.board = usual.board;
    made.instance_s = amount(from, "instance_s", usual.instance_s);
    if (const toml::node* const said = from.get("sharing")) {
      const std::vector<std::string> known{"parts", "mps", "time", "mig"};
      const std::string word = value<std::string>(from, "sharing", "");
      const auto found = std::find(known.begin(), known.end(), word);
      if (found == known.end()) {
        refuse(*said, fmt::format("sharing must be parts, mps, time or mig, not \"{}\"", word),
               text::did_you_mean(word, known));
      }
      made.sharing = static_cast<Sharing>(found - known.begin());
    }
    if (const toml::node* const said = from.get("board")) {
      const std::string name = value<std::string>(from, "board", "");
      made.board = slices::find_board(name);
      std::vector<std::string> known;
      for (const slices::Board& each : slices::boards()) known.push_back(each.name);
      if (made.board == nullptr) {
        refuse(*said,
               fmt::format("board must be one of {}, not \"{}\"", fmt::join(known, ", "), name),
               text::did_you_mean(name, known));
      }
      if (made.sharing != Sharing::mig) {
        refuse(*said, "board requires sharing = \"mig\"");
      }
    }
    if (made.sharing != Sharing::mig) {
      made.board = nullptr;
      made.instance_s = kInstance_s;
      if (const toml::node* const said = from.get("instance_s")) {
        refuse(*said, "instance_s requires sharing = \"mig\"");
      }
      return;
    }
    if (made.board == nullptr) refuse(from, "sharing = \"mig\" requires the board of the GPUs");
    if (!from.contains("gpu_memory_gb") && made.board != usual.board) {
      made.gpu_memory_gb = made.board->memory_gib;
    }
  }

  static bool tells_sockets(const NodeClass& make) {
    return std::any_of(make.connections.begin(), make.connections.end(),
                       [](const Connection& each) { return each.by == Between::socket; });
  }

  std::vector<Connection> connections(const toml::table& from, const NodeClass& of) {
    std::vector<Connection> made;
    for (const toml::node& node : array(*from.get("connections"))) {
      if (!node.is_table()) {
        refuse(node, "a connection is a table such as { by = \"nvlink\", gpus = [0, 1] }");
      }
      const toml::table& each = *node.as_table();
      const Connection read = connection(each, of);
      for (const Connection& other : made) {
        if (other.by == read.by) refuse_twice(each, other, read);
      }
      made.push_back(read);
    }
    return made;
  }

  Connection connection(const toml::table& from, const NodeClass& of) {
    allow(from, {"by", "gpus", "links"});
    Connection made{.by = between(from)};
    if (from.contains("links") && made.by != Between::nvlink) {
      refuse(*from.get("links"), "only nvlink has a number of links");
    }
    made.links = static_cast<int>(whole(from, "links", 1, 1, kMostLinks));
    const toml::node* const gpus = from.get("gpus");
    if (gpus == nullptr) refuse(from, "a connection needs gpus, such as [0, 1]");
    for (const toml::node& gpu : array(*gpus)) {
      const auto number = gpu.value<std::int64_t>();
      if (!number || *number < 0 || *number >= of.gpus) {
        refuse(gpu, fmt::format("a GPU of these nodes is a number from 0 to {}", of.gpus - 1));
      }
      made.gpus.push_back(static_cast<int>(*number));
    }
    std::sort(made.gpus.begin(), made.gpus.end());
    if (const auto twice = std::adjacent_find(made.gpus.begin(), made.gpus.end());
        twice != made.gpus.end()) {
      refuse(*gpus, fmt::format("GPU {} is listed twice", *twice));
    }
    // A socket may have one GPU, to say that it is alone there.
    const std::size_t least = made.by == Between::socket ? 1 : 2;
    if (made.gpus.size() < least) {
      refuse(*gpus, least == 1 ? "a socket here needs at least one GPU"
                               : "a connection needs at least two GPUs");
    }
    return made;
  }

  Between between(const toml::table& from) {
    const auto word = value<std::string>(from, "by", "");
    std::vector<std::string> known;
    for (const Between by : {Between::nvlink, Between::pcie_switch, Between::socket}) {
      if (word == word_of(by)) return by;
      known.emplace_back(word_of(by));
    }
    const toml::node* const said = from.get("by");
    if (said == nullptr) refuse(from, "a connection needs by: nvlink, pcie or socket");
    refuse(*said, fmt::format("\"{}\" is not a kind of connection", word),
           text::meant_or_known(word, known));
  }

  /// Two GPUs are told of once, and a GPU is behind one switch and of one socket.
  void refuse_twice(const toml::table& at, const Connection& one, const Connection& other) {
    std::vector<int> both;
    std::set_intersection(one.gpus.begin(), one.gpus.end(), other.gpus.begin(), other.gpus.end(),
                          std::back_inserter(both));
    if (one.by == Between::nvlink && both.size() > 1) {
      refuse(at, fmt::format("GPUs {} and {} are connected by nvlink twice", both[0], both[1]),
             "links = 2 means two links between them");
    }
    if (one.by != Between::nvlink && !both.empty()) {
      refuse(at, fmt::format(
                     "GPU {} is {}", both[0],
                     one.by == Between::socket ? "in two sockets" : "behind two PCIe switches"));
    }
  }

  std::vector<std::string> node_names(const toml::table& from, std::int64_t count) {
    const toml::node* const node = from.get("names");
    if (node == nullptr) return {};
    std::vector<std::string> names;
    for (const toml::node& name : array(*node)) {
      const auto text = name.value<std::string>();
      if (!text) refuse(name, "a node's name must be a string");
      names.push_back(*text);
    }
    if (static_cast<std::int64_t>(names.size()) != count) {
      refuse(*node, fmt::format("{} nodes but {} names", count, names.size()));
    }
    return names;
  }

  /// "r2", or below the switches above it: "core/pod1/r2".
  std::string rack_of(const toml::table& from) {
    const std::string rack = value<std::string>(from, "rack", "");
    if (rack.starts_with('/') || rack.ends_with('/') || rack.find("//") != std::string::npos) {
      refuse(from, fmt::format(
                       "rack is the names of switches separated by slashes (core/pod1/r2), not {}",
                       rack));
    }
    return rack;
  }

  void read_vc(const toml::table& vc, const NodeClass& usual) {
    allow_kind(vc, {"name", "nodes", "names", "rack", "rack_nodes", "group", "priority_tier"});
    const std::string name = value<std::string>(vc, "name", "");
    if (name.empty()) refuse(vc, "a [[vc]] needs a name");
    if (made_.find_vc(name) != kNoVc)
      refuse(vc, fmt::format("virtual cluster {} is listed twice", name));
    made_.add_vc(name);
    made_.vcs.back().priority_tier = tier_of(vc);
    const NodeClass own = node_class(vc, usual);
    const std::int64_t nodes = whole(vc, "nodes", 0, 0, kMostNodes);
    add_nodes(vc, own, nodes);
    for (const toml::table* const each : tables(vc, "group")) {
      const toml::table& group = *each;
      allow_kind(group, {"nodes", "names", "rack", "rack_nodes"});
      add_nodes(group, node_class(group, own), whole(group, "nodes", 0, 0, kMostNodes));
    }
  }

  /// Adds nodes of a [[vc]] or [[vc.group]]. With rack_nodes they fill racks in order.
  void add_nodes(const toml::table& from, const NodeClass& make, std::int64_t count) {
    const std::vector<std::string> names = node_names(from, count);
    const std::string rack = rack_of(from);
    const toml::node* const said = from.get("rack_nodes");
    const bool is_domain = make.nvlink_domain == NvlinkDomain::rack;
    if (is_domain && count > 0 && rack.empty() && said == nullptr) {
      refuse(from, "nvlink_domain = \"rack\" requires rack or rack_nodes",
             "rack_nodes = 18 makes racks of 18 nodes each");
    }
    if (said == nullptr) {
      made_.add_nodes(make, static_cast<std::uint32_t>(count), names, rack);
      return;
    }
    const std::int64_t size = whole(from, "rack_nodes", 1, 1, kMostNodes);
    for (std::int64_t first = 0; first < count; first += size) {
      const std::int64_t here = std::min(size, count - first);
      std::vector<std::string> own;
      if (!names.empty()) own.assign(names.begin() + first, names.begin() + first + here);
      made_.add_nodes(make, static_cast<std::uint32_t>(here), std::move(own),
                      fmt::format("{}{}rack{}", rack, rack.empty() ? "" : "/", ++racks_));
    }
  }

  void read_change(const toml::table& change) {
    allow(change, {"at", "vc", "nodes"});
    const std::string name = value<std::string>(change, "vc", "");
    const VcId vc = made_.find_vc(name);
    if (vc == kNoVc) refuse(change, fmt::format("no virtual cluster is named \"{}\"", name));
    const std::int64_t most = made_.vcs[index(vc)].num_nodes;
    made_.changes.push_back(
        {moment(change), vc, static_cast<int>(whole(change, "nodes", -1, 0, most))});
  }

  int tier_of(const toml::table& from) {
    return static_cast<int>(whole(from, "priority_tier", 0, -kMostTier, kMostTier));
  }

  void read_qos(const toml::table& from) {
    allow(from, {"name", "priority_tier", "users"});
    Qos made{.name = value<std::string>(from, "name", ""), .priority_tier = tier_of(from)};
    if (made.name.empty()) refuse(from, "a [[qos]] needs a name");
    if (made_.find_qos(made.name) != nullptr) {
      refuse(from, fmt::format("QOS {} is listed twice", made.name));
    }
    if (const toml::node* const users = from.get("users")) {
      for (const toml::node& user : array(*users)) {
        const auto name = user.value<std::string>();
        if (!name) refuse(user, "a user must be a string");
        made.users.push_back(*name);
      }
      if (made.users.empty()) {
        refuse(*users, fmt::format("QOS {} is open to no user", made.name),
               "leave out users to open it to all");
      }
    }
    made_.qos.push_back(std::move(made));
  }

  void read_tenant(const toml::table& from) {
    allow(from, {"name", "parent", "guarantee", "limit", "may_borrow", "cell", "priority",
                 "priority_tier"});
    Tenant made{.name = value<std::string>(from, "name", ""),
                .guarantee = amount(from, "guarantee", 0),
                .limit = amount(from, "limit", Tenant::kNoLimit),
                .may_borrow = value<bool>(from, "may_borrow", true)};
    made.priority = static_cast<int>(whole(from, "priority", 0, 0, cells::kMostGuaranteed));
    made.priority_tier = tier_of(from);
    if (made.name.empty()) refuse(from, "a [[tenant]] needs a name");
    if (made_.find_tenant(made.name) != kNoTenant) {
      refuse(from, fmt::format("tenant {} is listed twice", made.name));
    }
    if (const int gpus = read_cells(from, made); gpus > 0) {
      if (!from.contains("guarantee")) made.guarantee = gpus;
      if (made.guarantee != gpus) {
        refuse(*from.get("guarantee"),
               fmt::format("tenant {} has a guarantee of {} GPUs and cells of {}: leave out the "
                           "guarantee, or make both equal",
                           made.name, made.guarantee, gpus));
      }
    }
    if (made.limit < made.guarantee) {
      refuse(from, fmt::format("tenant {}: its limit is below its guarantee", made.name));
    }
    if (const std::string parent = value<std::string>(from, "parent", ""); !parent.empty()) {
      const TenantId found = made_.find_tenant(parent);
      if (found == kNoTenant) {
        refuse(from, fmt::format("no tenant before {} is named {}", made.name, parent));
      }
      made.parent = static_cast<std::int32_t>(index(found));
    }
    made_.tenants.push_back(std::move(made));
  }

  /// What a tenant owns, and how many GPUs that are.
  int read_cells(const toml::table& from, Tenant& tenant) {
    int gpus = 0;
    for (const toml::table* const each : tables(from, "cell")) {
      allow(*each, {"kind", "cells", "gpu_type", "vc", "pinned"});
      OwnedCells cells{.vc = vc_of_cells(*each),
                       .kind = value<std::string>(*each, "kind", ""),
                       .gpu_type = value<std::string>(*each, "gpu_type", ""),
                       .cells = static_cast<int>(whole(*each, "cells", 1, 1, 1'000'000)),
                       .pinned = value<std::string>(*each, "pinned", "")};
      const bool may_pin = cells.kind == "rack" || cells.kind == "node";
      if (!may_pin && cells.kind != "socket" && cells.kind != "gpu") {
        refuse(*each, fmt::format("a cell needs a kind: rack, node, socket or gpu, not \"{}\"",
                                  cells.kind));
      }
      if (!cells.pinned.empty() && (!may_pin || each->contains("cells"))) {
        refuse(*each, "a pinned cell is one node or one rack: leave out cells");
      }
      CellPlan& plan = plans_.try_emplace(cells.vc, made_, cells.vc).first->second;
      const int before = plan.owned_gpus();
      if (const Result<void> owned = plan.own(tenant.name, cells); !owned) {
        refuse(*each, fmt::format("tenant {}: {}", tenant.name, owned.error().message),
               owned.error().hint);
      }
      gpus += plan.owned_gpus() - before;
      tenant.cells.push_back(std::move(cells));
    }
    return gpus;
  }

  VcId vc_of_cells(const toml::table& cell) {
    const std::string name = value<std::string>(cell, "vc", "");
    if (name.empty() && made_.vcs.size() == 1) return VcId{0};
    const VcId vc = made_.find_vc(name);
    if (vc == kNoVc) {
      refuse(cell, fmt::format("a cell in a cluster with several virtual clusters needs the vc of "
                               "its nodes: none is named \"{}\"",
                               name));
    }
    return vc;
  }

  void read_switch(const toml::table& from) {
    allow(from, {"path", "uplink_gbps"});
    Switch made{.path = value<std::string>(from, "path", ""),
                .uplink_gbps = amount(from, "uplink_gbps", 0)};
    if (made.uplink_gbps <= 0) refuse(from, "a [[switch]] needs uplink_gbps above 0");
    const bool is_there =
        std::any_of(made_.nodes.begin(), made_.nodes.end(), [&](const Node& node) {
          const std::vector<std::string> above = switches_above(node);
          return std::find(above.begin(), above.end(), made.path) != above.end();
        });
    if (!is_there) {
      refuse(from, fmt::format("a [[switch]] needs the path of a switch above some node, as in its "
                               "rack: no node is below \"{}\"",
                               made.path));
    }
    const bool is_twice = std::any_of(made_.switches.begin(), made_.switches.end(),
                                      [&](const Switch& each) { return each.path == made.path; });
    if (is_twice) refuse(from, fmt::format("switch {} is listed twice", made.path));
    made_.switches.push_back(std::move(made));
  }

  void read_storage(const toml::table& from) {
    allow(from, {"remote_gbs", "cache_gb"});
    made_.storage = {.remote_gbs = amount(from, "remote_gbs", 0),
                     .cache_gb = amount(from, "cache_gb", 0)};
    if (made_.storage.remote_gbs <= 0) refuse(from, "[storage] needs remote_gbs above 0");
  }

  Time moment(const toml::table& change) {
    const toml::node* const at = change.get("at");
    if (at == nullptr) refuse(change, "a [[change]] needs at");
    if (const auto second = at->value<double>()) {
      return Time{Duration{std::llround(*second * 1e3)}};
    }
    const auto text = at->value<std::string>();
    if (text == "start") return Time::min();
    const auto parsed = text ? text::parse_datetime(*text) : std::nullopt;
    if (!parsed) refuse(*at, "at must be \"start\", \"YYYY-MM-DD hh:mm:ss\" (UTC) or seconds");
    return *parsed;
  }

  Cluster made_;
  int racks_ = 0;                   // made by rack_nodes, so far
  std::map<VcId, CellPlan> plans_;  // of those of which tenants own cells
};

}  // namespace

Result<Cluster> parse_toml(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path,
                              [&](const toml::table& file) { return Reader(path).read(file); });
}

Result<Cluster> read_toml(const std::string& path) {
  const Result<std::string> text = table::read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_toml(*text, path);
}

}  // namespace almanac::cluster
