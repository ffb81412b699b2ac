// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   squeue(1) of Slurm 22.05 to 24.05, "JOB REASON CODES".
#include "policy/contract/slurm_reason.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "slurmctld/limits/names.h"

namespace almanac::policy {
namespace {

namespace ctld = slurmctld;

struct SlurmName {
  std::string_view name{};
  std::string meaning{};  // "" where numbers of the job say more
};

/// Names of limits by kind of resource, with what each means.
void add_limits(std::vector<SlurmName>& all) {
  constexpr std::array<const char*, 7> kResources{
      "CPUs",          "memory",   "nodes",          "generic resources (GPUs)",
      "billing units", "licenses", "other resources"};
  static constexpr auto kAccount = "its association or of an account above it";
  const auto add = [&](const ctld::LimitNames& names, std::string_view before,
                       std::string_view after) {
    for (std::size_t at = 0; at < names.size(); ++at) {
      all.push_back({names[at], fmt::format("{} {} {}", before, kResources[at], after)});
    }
  };
  const auto of_account = [](std::string_view limit) {
    return fmt::format("that {} of {} allows", limit, kAccount);
  };
  const auto of_qos = [](std::string_view limit) {
    return fmt::format("that {} of its QOS allows", limit);
  };
  add(ctld::kAssocGroup, "running jobs leave too little of the", of_account("GrpTRES"));
  add(ctld::kQosGroup, "running jobs leave too little of the", of_qos("GrpTRES"));
  add(ctld::kAssocGroupMinutes, "past jobs have used up the minutes of", of_account("GrpTRESMins"));
  add(ctld::kQosGroupMinutes, "past jobs have used up the minutes of", of_qos("GrpTRESMins"));
  add(ctld::kAssocGroupRunMinutes, "running jobs leave too few of the minutes of",
      of_account("GrpTRESRunMins"));
  add(ctld::kQosGroupRunMinutes, "running jobs leave too few of the minutes of",
      of_qos("GrpTRESRunMins"));
  add(ctld::kAssocPerJob, "it requests more", "than MaxTRES of its association allows");
  add(ctld::kQosPerJob, "it requests more", "than MaxTRESPerJob of its QOS allows");
  add(ctld::kAssocPerNode, "it requests more",
      "on a node than MaxTRESPerNode of its association allows");
  add(ctld::kQosPerNode, "it requests more", "on a node than MaxTRESPerNode of its QOS allows");
  add(ctld::kAssocMinutesPerJob, "it requests more minutes of",
      "than MaxTRESMins of its association allows");
  add(ctld::kQosMinutesPerJob, "it requests more minutes of", "than MaxTRESMins of its QOS allows");
  add(ctld::kQosPerUser, "its user's running jobs leave too little of the",
      of_qos("MaxTRESPerUser"));
  add(ctld::kQosPerAccount, "its account's running jobs leave too little of the",
      of_qos("MaxTRESPerAccount"));
  add(ctld::kQosMin, "it requests less", "than MinTRES of its QOS requires");
}

const std::vector<SlurmName>& slurm_names() {
  static const std::vector<SlurmName> kAll = [] {
    std::vector<SlurmName> all{
        {"", ""},
        {ctld::kResources, ""},
        {ctld::kPriority, ""},
        {ctld::kNone, "no scheduling pass has looked at it yet"},
        {ctld::kDependency, "it waits for another job to end"},
        {ctld::kDependencyNeverSatisfied, "the job that it depends on ended otherwise"},
        {ctld::kBeginTime, "its begin time has not come"},
        {ctld::kJobHeldUser, "its user holds it"},
        {ctld::kJobHeldAdmin, "an operator holds it"},
        {ctld::kJobArrayTaskLimit, "as many tasks of its array run as its user allows"},
        {ctld::kLicenses, "too few licenses are free"},
        {ctld::kReservation, "its reservation has not begun"},
        {ctld::kReqNodeNotAvail, "a node that it requires is not available"},
        {ctld::kMayBeReserved, "nodes that it could use are reserved for other jobs"},
        {ctld::kNodesUnavailable,
         "its partition has too few nodes in service that no job of a "
         "higher tier or reservation claims"},
        {ctld::kPartitionDown, "its partition is down"},
        {ctld::kPartitionInactive, "its partition is inactive"},
        {ctld::kPartitionNodeLimit, "it requests more or fewer nodes than its partition allows"},
        {ctld::kPartitionTimeLimit, "its time limit exceeds that of its partition"},
        {ctld::kBadConstraints, "no node satisfies its constraints"},
        {"QOSGrpJobsLimit", "as many jobs run as GrpJobs of its QOS allows"},
        {"QOSGrpWallLimit", "past jobs have used up GrpWall of its QOS"},
        {"QOSMaxJobsPerUserLimit",
         "its user runs as many jobs as MaxJobsPerUser of its QOS allows"},
        {"QOSMaxWallDurationPerJobLimit", "its time limit exceeds MaxWall of its QOS"},
        {"MaxJobsPerAccount",
         "its account runs as many jobs as MaxJobsPerAccount of its QOS allows"},
        {"AssocGrpJobsLimit",
         "as many jobs run as GrpJobs of its association or of an account above it allows"},
        {"AssocGrpWallLimit",
         "past jobs have used up GrpWall of its association or of an account above it"},
        {"AssocMaxJobsLimit", "its user runs as many jobs as MaxJobs of the association allows"},
        {"AssocMaxWallDurationPerJobLimit", "its time limit exceeds MaxWall of its association"}};
    add_limits(all);
    ALMANAC_CHECK(all.size() <= std::numeric_limits<std::uint8_t>::max(), "{} reasons", all.size());
    return all;
  }();
  return kAll;
}

}  // namespace

SlurmReason slurm_reason(std::string_view name) {
  static const std::map<std::string_view, std::size_t> kPositions = [] {
    std::map<std::string_view, std::size_t> made;
    for (std::size_t at = 0; at < slurm_names().size(); ++at)
      made.emplace(slurm_names()[at].name, at);
    return made;
  }();
  const auto found = kPositions.find(name);
  return found == kPositions.end() ? SlurmReason::none : static_cast<SlurmReason>(found->second);
}

std::string_view name(SlurmReason reason) {
  return slurm_names()[static_cast<std::size_t>(reason)].name;
}

std::string meaning(SlurmReason reason) {
  return slurm_names()[static_cast<std::size_t>(reason)].meaning;
}

}  // namespace almanac::policy
