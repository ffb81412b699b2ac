// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of users' waiting passed while jobs of their own ran.
///
/// A user who submits more at once than a limit, or good manners, let run waits for themselves: a
/// higher priority would not shorten that.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "study/study.h"

namespace almanac::study {

/// The part of the waiting of these users' GPU jobs, from joining the queue to the first start,
/// during which at least one other GPU job of the same user ran. NaN if they did not wait.
///
/// Cost: O(jobs log jobs).
double waited_beside_own(const Study& study, const std::set<std::string_view>& users);

}  // namespace almanac::study
