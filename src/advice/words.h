// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sentences about a reproduction and about changes of settings, as terminals and pages show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advice/advise.h"

namespace almanac::advice {

/// Returns "1 job", "24,359 jobs".
std::string counted(std::int64_t count, const std::string& one);

/// Returns "your Slurm" with the site's settings, otherwise "stock Slurm".
std::string slurm_in_words(const Advice& advice);

/// Returns how many jobs wait as recorded.
std::string reproduction_in_words(const Advice& advice);
/// Returns how many jobs are missed, by likely cause; "" if there are none.
std::string causes_in_words(const Reproduction& reproduction);

/// Returns which jobs would never start, what a change does to the waits of the others, how certain
/// that is, and who loses.
std::string effect_in_words(const Change& change);
/// Returns how many nodes today's settings would need for waits as short; "" if that is unknown.
std::string worth_in_words(const Change& change);
/// Returns what all settings that matter do together, and which others were tried in vain; "" if
/// there is nothing to say of either.
std::string together_in_words(const KnobSearch& search);
/// Returns that the simulation does not match the log, so that a change is in doubt; "" if it
/// matches.
std::string doubt_in_words(const Advice& advice);
/// Returns the lines that make a change: "slurm.conf: PriorityWeightAge=1000".
std::vector<std::string> lines_in_words(const Change& change);
/// Returns how many settings were tried, and that none helps, or that the best of many look better
/// than they are; and that the simulation does not match the log, if so.
std::string search_in_words(const Advice& advice);

}  // namespace almanac::advice
