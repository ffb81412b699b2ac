// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm's names of limits that hold a job back.
#pragma once

#include <array>
#include <string_view>

#include "site/tres.h"
#include "slurmctld/jobs/job.h"

namespace almanac::slurmctld {

/// A name for each kind of TRES: CPUs, memory, nodes, generic resources, billing, licenses; others
/// share the last one.
using LimitNames = std::array<ReasonName, 7>;

inline constexpr LimitNames kAssocGroup{"AssocGrpCpuLimit", "AssocGrpMemLimit", "AssocGrpNodeLimit",
                                        "AssocGrpGRES",     "AssocGrpBilling",  "AssocGrpLicense",
                                        "AssocGrpUnknown"};
inline constexpr LimitNames kQosGroup{"QOSGrpCpuLimit", "QOSGrpMemLimit", "QOSGrpNodeLimit",
                                      "QOSGrpGRES",     "QOSGrpBilling",  "QOSGrpLicense",
                                      "QOSGrpUnknown"};
inline constexpr LimitNames kAssocGroupMinutes{"AssocGrpCPUMinutesLimit", "AssocGrpMemMinutes",
                                               "AssocGrpNodeMinutes",     "AssocGrpGRESMinutes",
                                               "AssocGrpBillingMinutes",  "AssocGrpLicenseMinutes",
                                               "AssocGrpUnknownMinutes"};
inline constexpr LimitNames kQosGroupMinutes{
    "QOSGrpCPUMinutesLimit", "QOSGrpMemoryMinutes",  "QOSGrpNodeMinutes",   "QOSGrpGRESMinutes",
    "QOSGrpBillingMinutes",  "QOSGrpLicenseMinutes", "QOSGrpUnknownMinutes"};
inline constexpr LimitNames kAssocGroupRunMinutes{
    "AssocGrpCPURunMinutesLimit", "AssocGrpMemRunMinutes",     "AssocGrpNodeRunMinutes",
    "AssocGrpGRESRunMinutes",     "AssocGrpBillingRunMinutes", "AssocGrpLicenseRunMinutes",
    "AssocGrpUnknownRunMinutes"};
inline constexpr LimitNames kQosGroupRunMinutes{
    "QOSGrpCPURunMinutesLimit", "QOSGrpMemoryRunMinutes",  "QOSGrpNodeRunMinutes",
    "QOSGrpGRESRunMinutes",     "QOSGrpBillingRunMinutes", "QOSGrpLicenseRunMinutes",
    "QOSGrpUnknownRunMinutes"};
inline constexpr LimitNames kAssocPerJob{"AssocMaxCpuPerJobLimit",  "AssocMaxMemPerJob",
                                         "AssocMaxNodePerJobLimit", "AssocMaxGRESPerJob",
                                         "AssocMaxBillingPerJob",   "AssocMaxLicensePerJob",
                                         "AssocMaxUnknownPerJob"};
inline constexpr LimitNames kQosPerJob{
    "QOSMaxCpuPerJobLimit", "QOSMaxMemoryPerJob",  "QOSMaxNodePerJobLimit", "QOSMaxGRESPerJob",
    "QOSMaxBillingPerJob",  "QOSMaxLicensePerJob", "QOSMaxUnknownPerJob"};
inline constexpr LimitNames kAssocPerNode{"AssocMaxCpuPerNode",     "AssocMaxMemPerNode",
                                          "AssocMaxNodePerNode",    "AssocMaxGRESPerNode",
                                          "AssocMaxBillingPerNode", "AssocMaxLicensePerNode",
                                          "AssocMaxUnknownPerNode"};
inline constexpr LimitNames kQosPerNode{
    "QOSMaxCpuPerNode",     "QOSMaxMemoryPerNode",  "QOSMaxNodePerNode",   "QOSMaxGRESPerNode",
    "QOSMaxBillingPerNode", "QOSMaxLicensePerNode", "QOSMaxUnknownPerNode"};
inline constexpr LimitNames kAssocMinutesPerJob{
    "AssocMaxCpuMinutesPerJobLimit", "AssocMaxMemMinutesPerJob",     "AssocMaxNodeMinutesPerJob",
    "AssocMaxGRESMinutesPerJob",     "AssocMaxBillingMinutesPerJob", "AssocMaxLicenseMinutesPerJob",
    "AssocMaxUnknownMinutesPerJob"};
inline constexpr LimitNames kQosMinutesPerJob{
    "QOSMaxCpuMinutesPerJobLimit", "QOSMaxMemoryMinutesPerJob",  "QOSMaxNodeMinutesPerJob",
    "QOSMaxGRESMinutesPerJob",     "QOSMaxBillingMinutesPerJob", "QOSMaxLicenseMinutesPerJob",
    "QOSMaxUnknownMinutesPerJob"};
inline constexpr LimitNames kQosPerUser{
    "QOSMaxCpuPerUserLimit", "QOSMaxMemoryPerUser",  "QOSMaxNodePerUserLimit", "QOSMaxGRESPerUser",
    "QOSMaxBillingPerUser",  "QOSMaxLicensePerUser", "QOSMaxUnknownPerUser"};
inline constexpr LimitNames kQosPerAccount{
    "MaxCpuPerAccount",     "MaxMemoryPerAccount",  "MaxNodePerAccount",   "MaxGRESPerAccount",
    "MaxBillingPerAccount", "MaxLicensePerAccount", "MaxUnknownPerAccount"};
inline constexpr LimitNames kQosMin{
    "QOSMinCpuNotSatisfied", "QOSMinMemory",  "QOSMinNode",   "QOSMinGRES",
    "QOSMinBilling",         "QOSMinLicense", "QOSMinUnknown"};

/// Returns the name for a TRES, by its number or name.
constexpr ReasonName name_of(const LimitNames& names, site::TresIndex tres, std::string_view name) {
  if (tres == site::kCpu) return names[0];
  if (tres == site::kMemory) return names[1];
  if (tres == site::kNode) return names[2];
  if (name.starts_with("gres/")) return names[3];
  if (tres == site::kBilling) return names[4];
  return names[name.starts_with("license/") ? 5 : 6];
}

}  // namespace almanac::slurmctld
