// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/read_machines.h"
#include "text/duration.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::site {
namespace {

std::map<std::string, NodeIndex> positions(const Site& site) {
  std::map<std::string, NodeIndex> made;
  for (std::size_t at = 0; at < site.nodes.size(); ++at) {
    made.emplace(site.nodes[at].name, static_cast<NodeIndex>(at));
  }
  return made;
}

ReservationFlags reservation_flags(const Record& record, std::vector<std::string>& unknown) {
  ReservationFlags made;
  for (const std::string& each : list(record, "Flags")) {
    const std::string flag = cluster::in_lower_case(each);
    if (flag == "maint")
      made.maintenance = true;
    else if (flag == "overlap")
      made.overlap = true;
    else if (flag == "ignore_jobs")
      made.ignore_jobs = true;
    else if (flag == "flex")
      made.flex = true;
    else if (flag == "magnetic")
      made.magnetic = true;
    else if (flag == "any_nodes")
      made.any_nodes = true;
    else if (flag == "part_nodes")
      made.part_nodes = true;
    else if (flag == "first_cores")
      made.first_cores = true;
    else if (flag == "time_float")
      made.time_float = true;
    else if (flag == "static" || flag == "static_alloc")
      made.static_alloc = true;
    else if (flag == "replace")
      made.replace = true;
    else if (flag == "replace_down")
      made.replace_down = true;
    else if (flag == "hourly")
      made.repeats = std::chrono::hours(1);
    else if (flag == "daily")
      made.repeats = std::chrono::days(1);
    else if (flag == "weekly")
      made.repeats = std::chrono::days(7);
    else if (flag == "weekday" || flag == "weekend") {
      made.repeats = std::chrono::days(1);
      (flag == "weekday" ? made.weekday : made.weekend) = true;
    } else if (flag.starts_with("purge_comp")) {
      made.purge = true;
      const auto equals = flag.find('=');
      if (equals != std::string::npos) {
        made.purge_after = text::parse_duration(flag.substr(equals + 1)).value_or(Duration{0});
      }
    } else if (flag != "spec_nodes" && flag != "all_nodes" && flag != "skip" &&
               flag != "no_hold_jobs" && flag != "no_hold_jobs_after_end" && flag != "user_del" &&
               flag != "force_start") {
      unknown.push_back(fmt::format("reservation {}: flag {} is not modelled",
                                    word(record, "ReservationName"), each));
    }
  }
  return made;
}

std::vector<std::pair<std::string, std::int64_t>> licenses_of(const Record& record) {
  std::vector<std::pair<std::string, std::int64_t>> made;
  for (const std::string& item : list(record, "Licenses")) {
    const auto colon = item.find(':');
    const auto count =
        colon == std::string::npos ? 1 : text::parse_whole(item.substr(colon + 1)).value_or(1);
    made.emplace_back(item.substr(0, colon), count);
  }
  return made;
}

}  // namespace

Result<void> read_reservations(std::span<const Record> records, Site& site) {
  auto read = catching([&] {
    const auto known = positions(site);
    std::vector<Reservation> made;
    for (const Record& record : records) {
      Reservation one{
          .name = word(record, "ReservationName"),
          .start = moment(record, "StartTime"),
          .end = moment(record, "EndTime"),
          .cores = whole(record, "CoreCnt", 0),
          .partition = word(record, "PartitionName"),
          .features = word(record, "Features"),
          .users = list(record, "Users"),
          .accounts = list(record, "Accounts"),
          .groups = list(record, "Groups"),
          .qos = list(record, "QOS"),
          .tres = counts(record, "TRES", site.tres),
          .licenses = licenses_of(record),
          .flags = reservation_flags(record, site.unknown),
          .max_start_delay = length(record, "MaxStartDelay", Unit::seconds, Duration{0})};
      for (const std::string& name : hosts(record, "Nodes")) {
        const auto node = known.find(name);
        if (node != known.end()) one.nodes.push_back(node->second);
      }
      std::sort(one.nodes.begin(), one.nodes.end());
      made.push_back(std::move(one));
    }
    site.reservations = std::move(made);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

Result<void> read_licenses(std::span<const Record> records, Site& site) {
  auto read = catching([&] {
    std::vector<License> made;
    for (const Record& record : records) {
      made.push_back({.name = word(record, "LicenseName"),
                      .total = whole(record, "Total", 0),
                      .used = whole(record, "Used", 0),
                      .reserved = whole(record, "Reserved", 0),
                      .remote = truth(record, "Remote")});
    }
    site.licenses = std::move(made);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

Result<void> read_events(std::span<const Record> rows, Site& site) {
  auto read = catching([&] {
    const auto known = positions(site);
    for (const Record& row : rows) {
      const auto names = text::expand_hosts(word(row, "NodeName"));
      const auto node = names && !names->empty() ? known.find(names->front()) : known.end();
      if (node == known.end()) continue;
      site.node_events.push_back(
          {.node = node->second,
           .start = moment(row, row.has("timestart") ? "TimeStart" : "Start"),
           .end = moment(row, row.has("timeend") ? "TimeEnd" : "End"),
           .state = word(row, "State"),
           .reason = word(row, "Reason")});
    }
    std::stable_sort(site.node_events.begin(), site.node_events.end(),
                     [](const NodeEvent& a, const NodeEvent& b) { return a.start < b.start; });
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
