// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/node_values.h"
#include "site/read_config.h"
#include "site/read_machines.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;

/// "NO", "YES:4", "FORCE:2", "EXCLUSIVE"; Shared= until 16.05.
void read_sharing(const Record& record, Partition& made) {
  const char* const key = record.has("oversubscribe") ? "OverSubscribe" : "Shared";
  const std::string text = in_lower_case(word(record, key));
  const std::string kind = text.substr(0, text.find(':'));
  made.oversubscribe = kind == "yes"         ? OverSubscribe::yes
                       : kind == "force"     ? OverSubscribe::force
                       : kind == "exclusive" ? OverSubscribe::exclusive
                                             : OverSubscribe::no;
  if (!kind.empty() && kind != "no" && made.oversubscribe == OverSubscribe::no) {
    refuse(record, key, "NO, YES:n, FORCE:n or EXCLUSIVE");
  }
  const bool shares =
      made.oversubscribe == OverSubscribe::yes || made.oversubscribe == OverSubscribe::force;
  constexpr int kDefaultRows = 4;
  made.rows = shares ? kDefaultRows : 1;
  if (kind.size() == text.size()) return;
  const auto rows = text::parse_whole(text.substr(kind.size() + 1));
  if (!rows || *rows < 1 || *rows > 65'535) refuse(record, key, "NO, YES:n, FORCE:n or EXCLUSIVE");
  made.rows = static_cast<int>(*rows);
}

}  // namespace

Partition partition_of(const Record& record, const std::vector<Tres>& tres,
                       std::vector<std::string>& unknown) {
  Partition made{.name = word(record, "PartitionName")};
  made.is_default = truth(record, "Default");
  made.state = choice(record, "State", PartitionState::up,
                      {{"up", PartitionState::up},
                       {"down", PartitionState::down},
                       {"drain", PartitionState::drain},
                       {"inactive", PartitionState::inactive}});
  // Priority= sets both.
  const int both = whole_int(record, "Priority", 1);
  made.priority_tier = whole_int(record, "PriorityTier", both);
  made.priority_job_factor = whole_int(record, "PriorityJobFactor", both);
  made.max_time = length(record, "MaxTime", Unit::minutes, text::kUnlimited);
  made.default_time = length(record, "DefaultTime", Unit::minutes, kNoDuration);
  made.max_nodes = limit(record, "MaxNodes");
  made.min_nodes = whole(record, "MinNodes", 0);
  made.max_cpus_per_node = limit(record, "MaxCPUsPerNode");
  made.max_cpus_per_socket = limit(record, "MaxCPUsPerSocket");
  read_sharing(record, made);
  made.least_loaded = truth(record, "LLN");
  made.exclusive_user = truth(record, "ExclusiveUser");
  made.exclusive_topology = truth(record, "ExclusiveTopo");
  made.root_only = truth(record, "RootOnly");
  made.requires_reservation = truth(record, "ReqResv");
  made.hidden = truth(record, "Hidden");
  made.qos = word(record, "QoS");
  made.allow_accounts = list(record, "AllowAccounts");
  made.deny_accounts = list(record, "DenyAccounts");
  made.allow_qos = list(record, "AllowQos");
  made.deny_qos = list(record, "DenyQos");
  made.allow_groups = list(record, "AllowGroups");
  made.billing_weights = weights(record, "TRESBillingWeights", tres, unknown);
  made.preempt_mode = read_preempt_mode(record, "PreemptMode", PreemptMode::cluster);
  made.grace_time = length(record, "GraceTime", Unit::seconds, Duration{0});
  made.over_time_limit = length(record, "OverTimeLimit", Unit::minutes, kNoDuration);
  JobDefaults& jobs = made.job_defaults;
  jobs.memory_per_cpu_mb = whole(record, "DefMemPerCPU", 0);
  jobs.memory_per_node_mb = whole(record, "DefMemPerNode", 0);
  jobs.max_memory_per_cpu_mb = whole(record, "MaxMemPerCPU", 0);
  jobs.max_memory_per_node_mb = whole(record, "MaxMemPerNode", 0);
  read_job_defaults(record, jobs);
  SelectSettings select{.consumable = Consumable::none};
  read_select_parameters(record, select, unknown);
  made.consumable = select.consumable;
  return made;
}

Result<void> read_partitions(std::span<const Record> records, Site& site) {
  auto read = catching([&] {
    std::map<std::string, NodeIndex> known;
    for (std::size_t at = 0; at < site.nodes.size(); ++at) {
      known.emplace(site.nodes[at].name, static_cast<NodeIndex>(at));
    }
    std::vector<Partition> made;
    std::set<std::string> left_out;
    for (const Record& record : records) {
      Partition partition = partition_of(record, site.tres, site.unknown);
      for (const std::string& name : hosts(record, "Nodes")) {
        const auto node = known.find(name);
        if (node != known.end()) {
          partition.nodes.push_back(node->second);
        } else {
          left_out.insert(name);
        }
      }
      std::sort(partition.nodes.begin(), partition.nodes.end());
      made.push_back(std::move(partition));
    }
    site.partitions = std::move(made);
    if (!left_out.empty()) {
      site.notes.push_back(
          fmt::format("left out {} of partitions that the list of nodes does not have, for example "
                      "{}: State=FUTURE, "
                      "or the list is incomplete",
                      text::counted(left_out.size(), "node"), *left_out.begin()));
    }
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
