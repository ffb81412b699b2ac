// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of letting nodes sleep: demand and what is on, nodes that sleep against jobs that are
/// delayed, each plan's figures, how far the forecast can be believed.
#pragma once

#include <vector>

#include "energy/frontier.h"
#include "figure/document.h"

namespace almanac::energy {

/// `plans` must come from compare_plans() for `demand` and `options`. The caller adds the source of
/// the demand: title and provenance.
figure::Document energy_document(const Demand& demand, const std::vector<JudgedPlan>& plans,
                                 const FrontierOptions& options);

}  // namespace almanac::energy
