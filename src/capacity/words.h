// SPDX-License-Identifier: Apache-2.0

/// \file
/// A plan in sentences.
#pragma once

#include <string>

#include "capacity/capacity.h"

namespace almanac::capacity {

/// Sets findings, cautions and assumptions.
void say_what_follows(Plan& plan, const Subject& subject);

/// Returns the nodes needed by type: "12 of 8 x V100, 4 of 4 x A100".
std::string types_in_words(const Answer& answer);

/// Returns the number of nodes needed: "14", or "> 160" if that many are too few.
std::string nodes_in_words(const Answer& answer);

}  // namespace almanac::capacity
