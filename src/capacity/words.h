// SPDX-License-Identifier: Apache-2.0

/// \file
/// A plan in sentences.
#pragma once

#include <string>
#include <vector>

#include "capacity/capacity.h"

namespace almanac::capacity {

/// What all partitions that reach the goal need together in one case under one policy.
struct Total {
  std::string policy{};
  int partitions = 0;
  int out_of_reach = 0;          ///< Partitions that do not reach the goal, and are in no sum.
  std::int64_t never_today = 0;  ///< Jobs that never end with today's nodes.
  int nodes_today = 0;
  int nodes = 0;
  int gpus = 0;
  double month_cost = 0;         ///< NaN without prices.
  const Answer* most = nullptr;  ///< The partition that lacks most nodes.
};

/// Returns the totals of a case, by policy. They point into the plan.
std::vector<Total> totals_of(const Plan& plan, const std::string& scenario);

/// Sets findings, cautions and assumptions.
void say_what_follows(Plan& plan, const Subject& subject);

/// Returns the nodes needed by type: "12 of 8 x V100, 4 of 4 x A100".
std::string types_in_words(const Answer& answer);

/// Returns the number of nodes needed: "14", or "> 160" if that many are too few.
std::string nodes_in_words(const Answer& answer);

}  // namespace almanac::capacity
