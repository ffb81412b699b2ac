// SPDX-License-Identifier: Apache-2.0

/// \file
/// Objectives for dividing the time of several GPU types among jobs or their owners: the programs
/// of `timeshare` in the terms of a policy.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 3 to 5; SOSP'21 (POP). Prices that change:
///          Narayanan et al., DISPA'20 (MLCloudPrice).
/// Cost     A program of jobs x types columns. Programs for finish times and durations grow with
///          the square of the number of jobs. Beyond 1,000 jobs they are split, unless the number
///          of parts is given, so no clock has to stop a slow solver.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policy/kit/allocator.h"
#include "rules/timeshare/problem.h"

namespace almanac::policy {

/// Divides the time of `stock`, the types of the problem, among `jobs`, in the problem's order.
using TimeObjective = std::function<timeshare::Fractions(
    const timeshare::Problem& problem, std::span<const JobId> jobs, const std::vector<Stock>& stock,
    const View& view)>;

/// Returns the objective called "fairness", "finish_time", "duration", "throughput" or "tenants".
/// Jobs and GPUs are split into `parts` (POP); 0 means as many as keep 10,000 jobs below a second.
TimeObjective objective_of(const std::string& name, std::size_t parts);

/// Returns water filling over owners by the guarantees of tenants, from the top of the tree down.
/// Others get what an owner cannot use. An owner without a guarantee gets next to nothing while
/// others can use everything. The jobs of an owner share equally.
TimeObjective by_tenants();

/// Returns the largest sum of rates per GPU price (kit/prices.h) that meets all deadlines, if that
/// is possible.
TimeObjective by_prices();

}  // namespace almanac::policy
