// SPDX-License-Identifier: Apache-2.0
//
// slurm.conf and gres.conf: lines of Key=Value, keys in any case, comments behind #, lines that go
// on behind a backslash, and other files by Include.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_file.h"
#include "cluster/slurm_words.h"
#include "table/stream.h"
#include "text/host_list.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::cluster {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_default(std::string_view name) { return in_lower_case(name) == "default"; }

/// A line without comment, and what it continues on.
struct ConfLine {
  std::string text{};
  Where where{};
};

/// The fields of a line by their keys in lower case; `first` is the first of them.
struct ConfEntry {
  std::string first{};
  std::map<std::string, std::string> fields{};
  Where where{};

  std::string get(const char* key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? "" : found->second;
  }
  bool has(const char* key) const { return fields.count(key) > 0; }
};

std::vector<ConfLine> lines_of(std::string_view text, const std::string& path) {
  std::vector<ConfLine> made;
  bool goes_on = false;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '#' && (at == 0 || line[at - 1] != '\\')) line = line.substr(0, at);
    }
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    const bool continues = line.ends_with('\\');
    if (continues) line.remove_suffix(1);
    if (goes_on) {
      made.back().text.append(line);
    } else {
      made.push_back({std::string(line), {path, number}});
    }
    goes_on = continues;
  }
  std::erase_if(made, [](const ConfLine& line) {
    return std::all_of(line.text.begin(), line.text.end(), is_blank);
  });
  return made;
}

Result<ConfEntry> parse_line(const ConfLine& line) {
  ConfEntry entry{.where = line.where};
  const auto wrong = [&] {
    return fail(Code::invalid,
                fmt::format("a line must be Key=Value pairs separated by blanks: \"{}\"",
                            line.text.substr(0, 60)),
                line.where);
  };
  const std::string& text = line.text;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  for (skip(); at < text.size(); skip()) {
    const std::size_t from = at;
    while (at < text.size() && (is_word(text[at]) || text[at] == '.')) ++at;
    std::string key = in_lower_case(std::string_view(text).substr(from, at - from));
    skip();
    if (at < text.size() && std::string_view("+-*/").find(text[at]) != std::string_view::npos) ++at;
    if (key.empty() || at >= text.size() || text[at] != '=') return wrong();
    ++at;
    skip();
    std::string value;
    if (at < text.size() && text[at] == '"') {
      const auto close = text.find('"', at + 1);
      if (close == std::string::npos) return wrong();
      value = text.substr(at + 1, close - at - 1);
      at = close + 1;
    } else {
      while (at < text.size() && !is_blank(text[at])) value += text[at++];
    }
    if (entry.first.empty()) entry.first = key;
    entry.fields[std::move(key)] = std::move(value);
  }
  return entry;
}

/// Whether a line is a setting of which nothing is read here, whatever its value looks like.
bool is_of_others(std::string_view line) {
  const auto end = std::find_if_not(line.begin(), line.end(), is_word);
  const std::string_view rest =
      without_blanks(line.substr(static_cast<std::size_t>(end - line.begin())));
  const std::string key =
      in_lower_case(line.substr(0, static_cast<std::size_t>(end - line.begin())));
  return !key.empty() && rest.starts_with('=') && key != "nodename" && key != "partitionname" &&
         key != "nodeset" && key != "name";
}

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
    folder_ = fs::path(path).parent_path();
    if (auto done = read_text(text, path, 0); !done) return tl::unexpected(done.error());
    const fs::path beside = folder_ / "gres.conf";
    std::error_code ignored;
    const bool is_other =
        fs::path(path).filename() != "gres.conf" && fs::is_regular_file(beside, ignored);
    if (is_other && devices_.empty()) {
      if (auto done = include(beside, {path}, 0); !done) return tl::unexpected(done.error());
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

  Result<void> include(const fs::path& path, const Where& from, int depth) {
    constexpr int kDeepest = 10;
    auto text = table::read_text_file(path.string());
    if (!text) {
      return fail(Code::not_found,
                  fmt::format("the file {} that it includes cannot be read", path.string()), from,
                  "put that file there, or copy its lines into this file");
    }
    if (depth >= kDeepest) return fail(Code::invalid, "files include each other", from);
    return read_text(*text, path.string(), depth + 1);
  }

  Result<void> read_text(std::string_view text, const std::string& path, int depth) {
    for (const ConfLine& line : lines_of(text, path)) {
      std::string_view rest = line.text;
      while (is_blank(rest.front())) rest.remove_prefix(1);
      if (in_lower_case(rest.substr(0, 8)) == "include " ||
          in_lower_case(rest.substr(0, 8)) == "include\t") {
        rest.remove_prefix(8);
        while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
        fs::path other(std::string{rest});
        if (other.is_relative()) other = folder_ / other;
        if (auto done = include(other, line.where, depth); !done) return done;
        continue;
      }
      const auto entry = parse_line(line);
      if (!entry) {
        if (is_of_others(rest)) continue;
        return tl::unexpected(entry.error());
      }
      if (auto done = take(*entry); !done) return done;
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

  fs::path folder_;
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
