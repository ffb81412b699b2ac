// SPDX-License-Identifier: Apache-2.0

/// \file
/// Explains a policy with pass `preempt` to an operator.
#pragma once

#include <string>
#include <vector>

#include "policy/composition.h"

namespace almanac::policy {

/// Returns sentences that say which jobs a policy stops, how long a job waits at most, and how to
/// switch parts of it off. Its pass must be `preempt`.
std::vector<std::string> preempt_sentences(const Composition& composition);

}  // namespace almanac::policy
