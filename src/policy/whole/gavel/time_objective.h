// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the time of several types of GPUs is divided for, among jobs or their owners: the programs
/// of `timeshare`, in the terms of a policy.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 3 to 5; SOSP'21 (POP). Prices that change:
///          Narayanan et al., DISPA'20 (MLCloudPrice).
/// Cost     a program of jobs x types columns. Those of finish times and durations grow with the
///          square of the jobs: beyond 1,000 these are split unless it is said into how many parts,
///          so that no clock has to stop a solver that is late.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policy/kit/allocator.h"
#include "rules/timeshare/problem.h"

namespace almanac::policy {

/// Divides the time of `stock`, the types of a problem, among `jobs`, its jobs in their order.
using TimeObjective = std::function<timeshare::Fractions(
    const timeshare::Problem& problem, std::span<const JobId> jobs, const std::vector<Stock>& stock,
    const View& view)>;

/// By its name, "fairness", "finish_time", "duration", "throughput" or "tenants"; jobs and GPUs are
/// split into `parts` (POP), 0 = as many as let 10,000 jobs be divided in a second.
TimeObjective objective_of(const std::string& name, std::size_t parts);

/// Water filling over owners, by the guarantees of tenants from the top of the tree down: what an
/// owner cannot use the others have. One without a guarantee has next to nothing while others want
/// all. Within an owner its jobs share evenly.
TimeObjective by_tenants();

/// The greatest sum of rates per price of the GPUs (kit/prices.h), with deadlines kept where all
/// can be.
TimeObjective by_prices();

}  // namespace almanac::policy
