// SPDX-License-Identifier: Apache-2.0
#include "site/kinds.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "cluster/slurm_words.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;
using cluster::without_blanks;

/// The names of columns that tell the tables of sacctmgr and sshare apart.
Kind table_kind(std::string_view header) {
  std::string names = in_lower_case(header);
  std::replace(names.begin(), names.end(), '|', ' ');
  std::set<std::string, std::less<>> columns;
  for (const std::string_view each : cluster::words_in(names)) columns.emplace(each);
  const auto has = [&](std::string_view name) { return columns.count(name) > 0; };
  if (has("account") && has("rawshares")) return Kind::shares;
  if (has("account") && has("user") && has("share")) return Kind::associations;
  if (has("name") && has("priority") && (has("gracetime") || has("usagefactor"))) return Kind::qos;
  if (has("type") && has("name") && has("id")) return Kind::tres;
  if (has("nodename") && has("state") && (has("timestart") || has("start"))) return Kind::events;
  return Kind::none;
}

Kind json_kind(std::string_view text) {
  for (const auto& [key, kind] : {std::pair{"\"nodes\"", Kind::nodes},
                                  {"\"partitions\"", Kind::partitions},
                                  {"\"reservations\"", Kind::reservations},
                                  {"\"licenses\"", Kind::licenses}}) {
    const auto at = text.find(key);
    if (at == std::string_view::npos) continue;
    std::string begin;  // of the value, without blanks
    for (const char c : text.substr(at + std::string_view(key).size(), 64)) {
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') begin += c;
    }
    if (begin.starts_with(":[{")) return kind;
    if (begin.starts_with(":[]")) return Kind::nothing;
  }
  return Kind::none;
}

Kind record_kind(std::string_view line) {
  for (const auto& [key, kind] : {std::pair{"PartitionName=", Kind::partitions},
                                  {"ReservationName=", Kind::reservations},
                                  {"LicenseName=", Kind::licenses},
                                  {"SwitchName=", Kind::topology},
                                  {"BlockName=", Kind::topology}}) {
    if (line.starts_with(key)) return kind;
  }
  return Kind::none;
}

}  // namespace

Kind kind_of(std::string_view name, std::string_view head) {
  if (name == "slurm.conf") return Kind::slurm_conf;
  if (name == "gres.conf") return Kind::gres_conf;
  if (name == "topology.conf") return Kind::topology_conf;
  if (name.ends_with(".conf")) return Kind::none;
  constexpr int kHeaderLines = 5;
  std::string_view rest = head;
  for (int number = 0; number < kHeaderLines && !rest.empty(); ++number) {
    const std::string_view line = without_blanks(cluster::take_line(rest));
    if (line.empty() || line.front() == '#') {
      --number;
      continue;
    }
    if (line.front() == '{') return json_kind(head);
    if (line.starts_with("Configuration data as of")) return Kind::config;
    if (line.starts_with("sdiag output at")) return Kind::diagnostics;
    if (line.starts_with("No reservations") || line.starts_with("No licenses") ||
        line.starts_with("No nodes") || line.starts_with("No topology")) {
      return Kind::nothing;
    }
    const bool is_node = head.find("CPUTot=") != std::string_view::npos ||
                         head.find("CPUAlloc=") != std::string_view::npos;
    if (line.starts_with("NodeName=")) return is_node ? Kind::nodes : Kind::none;
    if (const Kind kind = record_kind(line); kind != Kind::none) return kind;
    if (const Kind kind = table_kind(line); kind != Kind::none) return kind;
  }
  return Kind::none;
}

bool is_conf_text(std::string_view text) {
  while (!text.empty()) {
    const std::string line = in_lower_case(without_blanks(cluster::take_line(text)));
    if (line.find('=') == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_first_of("= "));
    for (const char* const known :
         {"nodename", "partitionname", "clustername", "nodeset", "slurmctldhost", "autodetect"}) {
      if (key == known) return true;
    }
    if (line.starts_with("name=gpu")) return true;
  }
  return false;
}

}  // namespace almanac::site
