// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fraction of users' waiting that passed while jobs of their own ran.
///
/// A user who submits more jobs at once than a limit allows to run waits for these jobs. A higher
/// priority would not shorten that.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "study/study.h"

namespace almanac::study {

/// Returns the fraction of the waiting of these users' GPU jobs, from submission to the first
/// start, during which another GPU job of the same user ran. NaN if they did not wait.
///
/// Cost: O(jobs log jobs).
double waited_beside_own(const Study& study, const std::set<std::string_view>& users);

}  // namespace almanac::study
