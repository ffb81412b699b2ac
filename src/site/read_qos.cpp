// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/account_values.h"
#include "site/read_accounts.h"
#include "site/read_config.h"

namespace almanac::site {
namespace {

QosFlags qos_flags(const Record& row, std::vector<std::string>& unknown) {
  QosFlags made;
  for (const std::string& each : list(row, "Flags")) {
    const std::string flag = cluster::in_lower_case(each);
    if (flag == "denyonlimit")
      made.deny_on_limit = true;
    else if (flag == "enforceusagethreshold")
      made.enforce_usage_threshold = true;
    else if (flag == "noreserve")
      made.no_reserve = true;
    else if (flag == "nodecay")
      made.no_decay = true;
    else if (flag == "overpartqos")
      made.over_part_qos = true;
    else if (flag == "partitionmaxnodes")
      made.partition_max_nodes = true;
    else if (flag == "partitionminnodes")
      made.partition_min_nodes = true;
    else if (flag == "partitiontimelimit")
      made.partition_time_limit = true;
    else if (flag == "partitionqos")
      made.partition_qos = true;
    else if (flag == "requiresreservation" || flag == "requiredreservation")
      made.requires_reservation = true;
    else if (flag == "usagefactorsafe")
      made.usage_factor_safe = true;
    else if (flag == "relative")
      made.relative = true;
    else
      unknown.push_back(fmt::format("QOS {}: flag {} is not modelled", word(row, "Name"), each));
  }
  return made;
}

}  // namespace

GroupLimits group_limits(const Record& row, std::vector<Tres>& tres) {
  return {.jobs = limit(row, "GrpJobs"),
          .jobs_accrue = limit(row, "GrpJobsAccrue"),
          .submit_jobs = limit(row, row.has("grpsubmitjobs") ? "GrpSubmitJobs" : "GrpSubmit"),
          .wall = length(row, "GrpWall", Unit::minutes, kNoDuration),
          .tres = counts(row, "GrpTRES", tres),
          .tres_minutes = counts(row, "GrpTRESMins", tres),
          .tres_run_minutes = counts(row, "GrpTRESRunMins", tres)};
}

JobLimits job_limits(const Record& row, std::vector<Tres>& tres) {
  return {.wall = length(row, "MaxWall", Unit::minutes, kNoDuration),
          .tres = counts(row, "MaxTRES", tres),
          .tres_per_node = counts(row, "MaxTRESPerNode", tres),
          .tres_minutes = counts(row, "MaxTRESMins", tres)};
}

Result<void> read_qos(std::span<const Record> rows, Site& site) {
  auto read = catching([&] {
    const auto each_limits = [&](const Record& row, const std::string& suffix) {
      return EachLimits{.jobs = limit(row, "MaxJobs" + suffix),
                        .jobs_accrue = limit(row, "MaxJobsAccrue" + suffix),
                        .submit_jobs = limit(row, "MaxSubmit" + suffix),
                        .tres = counts(row, "MaxTRES" + suffix, site.tres),
                        .tres_run_minutes = counts(row, "MaxTRESRunMins" + suffix, site.tres)};
    };
    std::vector<Qos> made;
    for (const Record& row : rows) {
      const std::int64_t priority = whole(row, "Priority", 0);
      made.push_back(
          {.name = word(row, "Name"),
           .priority = static_cast<std::uint32_t>(
               std::min<std::int64_t>(priority, std::numeric_limits<std::uint32_t>::max())),
           .usage_factor = decimal(row, "UsageFactor", 1),
           .limit_factor = decimal(row, "LimitFactor", 0),
           .usage_threshold = decimal(row, "UsageThres", -1),
           .preempts = list(row, "Preempt"),
           .preempt_mode = read_preempt_mode(row, "PreemptMode", PreemptMode::cluster),
           .preempt_within =
               cluster::in_lower_case(word(row, "PreemptMode")).find("within") != std::string::npos,
           .preempt_exempt_time = length(row, "PreemptExemptTime", Unit::seconds, kNoDuration),
           .grace_time = length(row, "GraceTime", Unit::seconds, Duration{0}),
           .flags = qos_flags(row, site.unknown),
           .group = group_limits(row, site.tres),
           .job = job_limits(row, site.tres),
           .per_user = each_limits(row, "PU"),
           .per_account = each_limits(row, "PA"),
           .min_tres = counts(row, "MinTRES", site.tres),
           .min_priority_threshold = limit(row, "MinPrioThres")});
    }
    site.qos = std::move(made);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
