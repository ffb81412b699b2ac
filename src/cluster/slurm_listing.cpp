// SPDX-License-Identifier: Apache-2.0
//
// What sinfo prints.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_file.h"
#include "cluster/slurm_words.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::cluster {
namespace {

constexpr double kMostPerNode = 1e6;  // cores, GB

/// "DOWN*", "MIXED+DRAIN", "drain", "maint", "fail$".
bool is_out_of_service(std::string_view state) {
  const std::string word = in_lower_case(state);
  for (const char* const out : {"down", "drain", "drng", "fail", "maint", "error", "unk"}) {
    // POWERED_DOWN and POWERING_DOWN nodes wake when they are needed.
    const auto at = word.find(out);
    if (at != std::string::npos && (at == 0 || word[at - 1] == '+' || word[at - 1] == ',')) {
      return true;
    }
  }
  return false;
}

/// "48", "48+" of nodes that differ; nothing for what is no number.
std::optional<double> amount_of(std::string_view text) {
  if (text.ends_with('+')) text.remove_suffix(1);
  const auto value = text::parse_decimal(text);
  if (!value || *value < 0) return std::nullopt;
  return value;
}

Result<void> need_gpus(const SlurmSite& site, const std::string& path) {
  const bool any = std::any_of(site.nodes.begin(), site.nodes.end(),
                               [](const SlurmNode& node) { return node.gres.gpus > 0; });
  if (any) return {};
  return fail(Code::invalid, "no node has a GPU in its Gres", {.file = path},
              fmt::format("Slurm lists GPUs if slurm.conf has Gres=gpu:TYPE:N; otherwise list them "
                          "in a TOML file (almanac cluster show 4x8 -o toml is a start)"));
}

/// The columns of sinfo that matter, by their headers.
struct SinfoColumns {
  std::optional<std::size_t> nodes, gres, cpus, memory, partition, state;
  std::size_t count = 0;
  char delimiter = ' ';
};

std::vector<std::string_view> fields_of(std::string_view line, char delimiter) {
  if (delimiter == ' ') return words_in(line);
  std::vector<std::string_view> made;
  for (;;) {
    const auto end = line.find(delimiter);
    made.push_back(without_blanks(line.substr(0, end)));
    if (end == std::string_view::npos) return made;
    line.remove_prefix(end + 1);
  }
}

SinfoColumns columns_in(std::string_view header) {
  SinfoColumns made;
  for (const char each : {'|', ';', ',', '\t'}) {
    if (made.delimiter == ' ' && header.find(each) != std::string_view::npos) made.delimiter = each;
  }
  const auto names = fields_of(header, made.delimiter);
  made.count = names.size();
  for (std::size_t at = 0; at < names.size(); ++at) {
    const std::string_view name = names[at];
    if (name == "NODELIST" || name == "HOSTNAMES") made.nodes = at;
    if (name == "GRES") made.gres = at;
    if (name == "CPUS") made.cpus = at;
    if (name == "MEMORY") made.memory = at;
    if (name == "PARTITION" || name == "PARTITIONNAME") made.partition = at;
    if (name == "STATE" || name == "STATELONG" || name == "STATECOMPACT") made.state = at;
  }
  return made;
}

class SinfoReader {
 public:
  explicit SinfoReader(const std::string& path) : path_(path) {}

  Result<SlurmSite> read(std::string_view text) {
    std::int64_t number = 0;
    std::string_view line;
    do {
      line = without_blanks(take_line(text));
      ++number;
      columns_ = columns_in(line);
    } while (!columns_.nodes && !text.empty());
    if (!columns_.gres) {
      return fail(
          Code::invalid,
          fmt::format(
              "this output of sinfo has no column GRES, so it lists no GPUs: its columns are {}",
              fmt::join(fields_of(line, columns_.delimiter), ", ")),
          {path_, number}, kCommand);
    }
    while (!text.empty()) {
      line = without_blanks(take_line(text));
      ++number;
      if (line.empty()) continue;
      if (auto done = take(line, {path_, number}); !done) return tl::unexpected(done.error());
    }
    site_.tells_partitions = columns_.partition.has_value();
    if (auto enough = need_gpus(site_, path_); !enough) return tl::unexpected(enough.error());
    std::string missing;
    if (!columns_.cpus) missing = "cores (%c)";
    if (!columns_.memory) missing += fmt::format("{}memory (%m)", missing.empty() ? "" : ", ");
    if (!columns_.partition) {
      missing += fmt::format("{}partitions (%P)", missing.empty() ? "" : ", ");
    }
    if (!missing.empty()) {
      site_.notes.push_back(fmt::format("this sinfo output lacks {}; {}", missing, kCommand));
    }
    return std::move(site_);
  }

 private:
  static constexpr const char* kCommand =
      "for everything: sinfo -N -o \"%N|%P|%c|%m|%G|%T\" > nodes.txt";

  Result<void> take(std::string_view line, const Where& where) {
    const auto fields = fields_of(line, columns_.delimiter);
    if (fields.size() < columns_.count || (fields.size() > columns_.count && !is_last_free(line))) {
      return fail(Code::invalid,
                  fmt::format("{} columns by the header, found {}: \"{}\"", columns_.count,
                              fields.size(), line.substr(0, 60)),
                  where, kCommand);
    }
    const std::string_view list = fields[*columns_.nodes];
    const auto hosts = text::expand_hosts(list);
    if (!hosts) return fail(Code::invalid, hosts.error().message, where);
    SlurmNode node{.where = where};
    const auto gres = text::parse_gres(fields[*columns_.gres]);
    if (!gres) {
      return fail(
          Code::invalid,
          fmt::format("GRES must be like gpu:a100:8, found \"{}\"", fields[*columns_.gres]), where,
          fields[*columns_.gres].ends_with('+') ? "print the column in full with -o \"%N|%G\""
                                                : "");
    }
    node.gres = *gres;
    for (const auto& [column, name, unit, value] :
         {std::tuple{columns_.cpus, "CPUS", 1.0, &node.cpus},
          std::tuple{columns_.memory, "MEMORY", 1024.0, &node.memory_gb}}) {
      if (!column) continue;
      const auto amount = amount_of(fields[*column]);
      if (!amount || *amount / unit > kMostPerNode) {
        return fail(
            Code::invalid,
            fmt::format("{} must be a number of 0 or more, found \"{}\"", name, fields[*column]),
            where);
      }
      *value = *amount / unit;
    }
    if (columns_.state) node.is_out = is_out_of_service(fields[*columns_.state]);
    std::string partition(columns_.partition ? fields[*columns_.partition] : std::string_view());
    if (partition.ends_with('*')) partition.pop_back();
    if (!partition.empty()) node.partitions = split_list(partition);
    for (const std::string& host : *hosts) {
      node.name = host;
      if (auto done = add(node); !done) return done;
    }
    return {};
  }

  /// Whether what has blanks in it is the last column: a reason.
  bool is_last_free(std::string_view) const {
    const std::size_t last = columns_.count - 1;
    for (const auto& column : {columns_.nodes, columns_.gres, columns_.cpus, columns_.memory,
                               columns_.partition, columns_.state}) {
      if (column && *column == last) return false;
    }
    return columns_.delimiter == ' ';
  }

  /// A node has a line for each of its partitions.
  Result<void> add(const SlurmNode& node) {
    const auto [known, is_new] = position_.emplace(node.name, site_.nodes.size());
    if (is_new) {
      site_.nodes.push_back(node);
      return {};
    }
    SlurmNode& other = site_.nodes[known->second];
    if (other.gres.gpus != node.gres.gpus || other.gres.gpu_type != node.gres.gpu_type) {
      return fail(Code::invalid,
                  fmt::format("node {} has other GPUs in line {}", node.name, other.where.line),
                  node.where);
    }
    for (const std::string& each : node.partitions) {
      const auto& has = other.partitions;
      if (std::find(has.begin(), has.end(), each) == has.end()) other.partitions.push_back(each);
    }
    return {};
  }

  const std::string& path_;
  SinfoColumns columns_;
  SlurmSite site_;
  std::map<std::string, std::size_t> position_;
};

}  // namespace

Result<SlurmSite> read_sinfo(const std::string& path, std::string_view text) {
  return SinfoReader(path).read(text);
}

}  // namespace almanac::cluster
