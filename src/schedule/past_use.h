// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs used of GPUs before a policy began, as it is told (policy/contract/host.h).
#pragma once

#include <vector>

#include "base/time.h"
#include "policy/contract/host.h"
#include "trace/job.h"

namespace almanac::schedule {

/// Adds what a job used that ran for `ran` from its first start on until it ended, or until now;
/// nothing where it never ran or held no GPU.
void add_past_use(const trace::Request& request, TenantId tenant, Time start, Time until,
                  Duration ran, std::vector<policy::PastUse>& uses);

}  // namespace almanac::schedule
