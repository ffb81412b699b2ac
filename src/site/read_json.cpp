// SPDX-License-Identifier: Apache-2.0
#include "site/read_json.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "site/read_document.h"

namespace almanac::site {
namespace {

using json::Value;

/// Fills a record from JSON: a field per row, of the first path that has a value. Later releases
/// have other paths.
class Filler {
 public:
  Filler(Value from, Record& record) : from_(from), record_(record) {}

  void text(const char* key, std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths) put(key, json::text(from_, path));
  }
  void number(const char* key, std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths) {
      if (const auto value = json::number(from_, path)) put(key, fmt::format("{:.0f}", *value));
    }
  }
  /// "yes" if one of the words at a path is `word`.
  void flag(const char* key, std::string_view word, std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths) {
      if (json::has(json::words(from_, path), word)) put(key, "yes");
    }
  }

 private:
  void put(const char* key, std::string value) {
    if (!value.empty()) record_.fields.emplace(cluster::in_lower_case(key), std::move(value));
  }

  Value from_;
  Record& record_;
};

void fill_node(Value from, Record& record) {
  Filler fill(from, record);
  fill.text("NodeName", {"name"});
  fill.number("CPUTot", {"cpus"});
  fill.number("CPUEfctv", {"effective_cpus"});
  fill.number("Boards", {"boards"});
  fill.number("Sockets", {"sockets"});
  fill.number("CoresPerSocket", {"cores"});
  fill.number("ThreadsPerCore", {"threads"});
  fill.number("CoreSpecCount", {"specialized_cores"});
  fill.text("CPUSpecList", {"specialized_cpus"});
  fill.number("MemSpecLimit", {"specialized_memory"});
  fill.number("RealMemory", {"real_memory"});
  fill.number("TmpDisk", {"temporary_disk"});
  fill.number("Weight", {"weight"});
  fill.text("AvailableFeatures", {"features"});
  fill.text("ActiveFeatures", {"active_features"});
  fill.text("Gres", {"gres"});
  std::vector<std::string> states = json::words(from, "state");
  for (std::string& each : json::words(from, "state_flags")) states.push_back(std::move(each));
  record.fields["state"] = fmt::format("{}", fmt::join(states, "+"));
  std::string reason = json::text(from, "reason");
  const std::string by = json::text(from, "reason_set_by_user");
  const auto since = json::number(from, "reason_changed_at");
  if (!reason.empty() && !by.empty() && since && *since > 0) {
    reason += fmt::format(" [{}@{:.0f}]", by, *since);
  }
  record.fields["reason"] = std::move(reason);
}

/// OverSubscribe as the text has it.
std::string sharing_of(Value from) {
  const auto jobs = json::number(from, "maximums/oversubscribe/jobs");
  if (!jobs) return {};
  if (json::has(json::words(from, "maximums/oversubscribe/flags"), "FORCE")) {
    return fmt::format("FORCE:{:.0f}", *jobs);
  }
  if (*jobs == 0) return "EXCLUSIVE";
  return *jobs > 1 ? fmt::format("YES:{:.0f}", *jobs) : "NO";
}

void fill_partition(Value from, Record& record) {
  Filler fill(from, record);
  fill.text("PartitionName", {"name"});
  fill.text("Nodes", {"nodes/configured", "nodes"});
  fill.text("State", {"partition/state", "state"});
  const std::initializer_list<std::string_view> flags{"flags", "partition/flags"};
  fill.flag("Default", "DEFAULT", flags);
  fill.flag("ExclusiveUser", "EXCLUSIVE_USER", flags);
  fill.flag("ExclusiveTopo", "EXCLUSIVE_TOPO", flags);
  fill.flag("LLN", "LLN", flags);
  fill.flag("RootOnly", "ROOT_ONLY", flags);
  fill.flag("ReqResv", "REQ_RESV", flags);
  fill.flag("Hidden", "HIDDEN", flags);
  fill.number("PriorityTier", {"priority/tier", "priority_tier"});
  fill.number("PriorityJobFactor", {"priority/job_factor", "priority_job_factor"});
  fill.number("MaxTime", {"maximums/time", "max_time_limit"});
  fill.number("DefaultTime", {"defaults/time", "default_time_limit"});
  fill.number("MaxNodes", {"maximums/nodes", "maximum_nodes_per_job"});
  fill.number("MinNodes", {"minimums/nodes", "min nodes per job"});
  fill.number("MaxCPUsPerNode", {"maximums/cpus_per_node", "maximum_cpus_per_node"});
  fill.number("MaxCPUsPerSocket", {"maximums/cpus_per_socket"});
  fill.text("QoS", {"qos/assigned", "qos"});
  fill.text("AllowAccounts", {"accounts/allowed", "allowed_accounts"});
  fill.text("DenyAccounts", {"accounts/deny", "denied_accounts"});
  fill.text("AllowQos", {"qos/allowed", "allowed_qos"});
  fill.text("DenyQos", {"qos/deny", "denied_qos"});
  fill.text("AllowGroups", {"groups/allowed", "allowed_groups"});
  fill.text("TRESBillingWeights", {"tres/billing_weights", "billing_weights"});
  fill.number("GraceTime", {"grace_time", "preemption_grace_time"});
  fill.number("OverTimeLimit", {"maximums/over_time_limit", "over_time_limit"});
  fill.number("DefMemPerCPU", {"defaults/partition_memory_per_cpu", "default_memory_per_cpu"});
  fill.number("DefMemPerNode", {"defaults/partition_memory_per_node", "default_memory_per_node"});
  fill.number("MaxMemPerCPU", {"maximums/partition_memory_per_cpu", "maximum_memory_per_cpu"});
  fill.number("MaxMemPerNode", {"maximums/partition_memory_per_node", "maximum_memory_per_node"});
  fill.text("JobDefaults", {"defaults/job"});
  if (std::string sharing = sharing_of(from); !sharing.empty()) {
    record.fields["oversubscribe"] = std::move(sharing);
  }
}

void fill_reservation(Value from, Record& record) {
  Filler fill(from, record);
  fill.text("ReservationName", {"name"});
  fill.number("StartTime", {"start_time"});
  fill.number("EndTime", {"end_time"});
  fill.text("Nodes", {"node_list"});
  fill.number("CoreCnt", {"core_count"});
  fill.text("PartitionName", {"partition"});
  fill.text("Features", {"features"});
  fill.text("Users", {"users"});
  fill.text("Accounts", {"accounts"});
  fill.text("Groups", {"groups"});
  fill.text("QOS", {"qos"});
  fill.text("TRES", {"tres"});
  fill.text("Licenses", {"licenses"});
  fill.text("Flags", {"flags"});
  fill.number("MaxStartDelay", {"max_start_delay"});
}

void fill_license(Value from, Record& record) {
  Filler fill(from, record);
  fill.text("LicenseName", {"LicenseName"});
  fill.number("Total", {"Total"});
  fill.number("Used", {"Used"});
  fill.number("Reserved", {"Reserved"});
  if (json::truth(from, "Remote")) record.fields["remote"] = "yes";
}

}  // namespace

Result<std::vector<Record>> json_records(const std::string& path, std::string_view text,
                                         Kind kind) {
  const auto read = [&](std::string_view list, auto&& fill) {
    auto made = json::read_each(text, list, [&](Value from) {
      Record record{.first = std::string(list), .where = {path}};
      fill(from, record);
      return record;
    });
    if (!made) made.error().where = {path};
    return made;
  };
  switch (kind) {
    case Kind::nodes:
      return read("nodes", fill_node);
    case Kind::partitions:
      return read("partitions", fill_partition);
    case Kind::reservations:
      return read("reservations", fill_reservation);
    default:
      return read("licenses", fill_license);
  }
}

}  // namespace almanac::site
