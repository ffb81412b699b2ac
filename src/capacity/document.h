// SPDX-License-Identifier: Apache-2.0

/// \file
/// A plan as a report: the curve first, then what each case needs.
#pragma once

#include <string>
#include <vector>

#include "capacity/capacity.h"
#include "figure/document.h"

namespace almanac::capacity {

/// Returns the report; `command` is the command line.
figure::Document document(const Subject& subject, const Plan& plan,
                          const std::vector<std::string>& command);

}  // namespace almanac::capacity
