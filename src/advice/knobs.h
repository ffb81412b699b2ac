// SPDX-License-Identifier: Apache-2.0

/// \file
/// The settings of a Slurm site that an operator may turn, with a few values of each to try.
#pragma once

#include <vector>

#include "advice/settings.h"
#include "site/site.h"
#include "trace/trace.h"

namespace almanac::advice {

/// Returns the settings to try on `site`, which runs the jobs of `log`. A weight that is not 0 says
/// what the site wants, so it is raised or lowered by a factor of 4, and never removed. A limit is
/// only raised, because a lower one would end jobs, or keep them from running. Today's values are
/// left out.
std::vector<Setting> knobs_of(const site::Site& site, const trace::Trace& log);

}  // namespace almanac::advice
