// SPDX-License-Identifier: Apache-2.0

/// \file
/// The GPU usage of jobs before a policy began, as hosts pass it on (policy/contract/host.h).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/time.h"
#include "policy/contract/host.h"
#include "schedule/admission.h"
#include "trace/job.h"

namespace almanac::schedule {

/// Adds the usage of a job that ran for `ran` from its first start until its end, or until now.
/// Adds nothing if it never ran or held no GPU.
void add_past_use(const trace::Request& request, TenantId tenant, Time start, Time until,
                  Duration ran, std::vector<policy::PastUse>& uses);

/// Returns what `ended` jobs used, by the tenants of `owners`: the past of a policy that simulates
/// the jobs after them.
std::shared_ptr<const std::vector<policy::PastUse>> past_use_of(std::span<const trace::Job> ended,
                                                                const Admission& owners);

}  // namespace almanac::schedule
