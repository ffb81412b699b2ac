// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits that sacctmgr prints alike for QOS and associations. Only for the .cpp files of this
/// room; throws BadValue.
#pragma once

#include <vector>

#include "site/accounts.h"
#include "site/values.h"

namespace almanac::site {

GroupLimits group_limits(const Record& row, std::vector<Tres>& tres);
JobLimits job_limits(const Record& row, std::vector<Tres>& tres);

}  // namespace almanac::site
