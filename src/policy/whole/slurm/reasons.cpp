// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/slurm/reasons.h"

#include <algorithm>
#include <array>

namespace almanac::policy::whole {

ReasonKind kind_of(slurmctld::ReasonName name) {
  if (name == slurmctld::kPriority) return ReasonKind::behind;
  constexpr std::array kOfNodes{slurmctld::kNone,
                                slurmctld::kResources,
                                slurmctld::kMayBeReserved,
                                slurmctld::kReqNodeNotAvail,
                                slurmctld::kNodesUnavailable,
                                slurmctld::kReservation};
  if (std::find(kOfNodes.begin(), kOfNodes.end(), name) != kOfNodes.end()) {
    return ReasonKind::short_of_gpus;
  }
  const bool is_limit = name.starts_with("Assoc") || name.starts_with("QOS") ||
                        name.starts_with("Max") || name == slurmctld::kLicenses;
  return is_limit ? ReasonKind::at_limit : ReasonKind::passed_over;
}

}  // namespace almanac::policy::whole
