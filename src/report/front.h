// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies between several objectives for readers: a table, a sentence and a page.
#pragma once

#include <string>
#include <vector>

#include "experiment/front.h"
#include "figure/document.h"
#include "figure/rows.h"

namespace almanac::report {

using Objectives = std::vector<experiment::Objective>;

/// Returns rows of members of the front; the knee is printed bold.
figure::Listing front_rows(const experiment::Front& front, const Objectives& objectives);

/// Returns how much the knee gives up of each objective: "easy+gpu_time gives up least of all
/// objectives: mean wait 2h 03m (3 % above the least), ..."; without a knee, which policy has the
/// least of what.
std::string knee_in_words(const experiment::Front& front, const Objectives& objectives);

/// Returns the page: the front drawn, for each objective against the first, and all policies tried.
figure::Document front_document(const std::string& trace, const experiment::Front& front,
                                const Objectives& objectives,
                                const std::vector<std::string>& command);

}  // namespace almanac::report
