// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays a recorded scenario of Kueue: what it was given, step by step, and what it decided.
#pragma once

#include <string>

#include "reproduce/read.h"

namespace almanac::reproduce {

/// Records are the cycles, each with its heads, admissions and preemptions, and the states after
/// steps, each with who holds quota, who waits in which order and who is set aside.
struct KueueRecords {
  int recorded = 0;
  int equal = 0;
  std::string first_difference{};  ///< "" = all are equal.
};

/// Plays a scenario of golden/kueue. Throws Malformed.
KueueRecords play_kueue_scenario(const Json& scenario);

}  // namespace almanac::reproduce
