// SPDX-License-Identifier: Apache-2.0

/// \file
/// Time on types of GPUs, divided among jobs alone and pairs of jobs on the same GPUs by max-min
/// fairness: the program of rules/timeshare/packed.h in the terms of a policy.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), section 4.2.
/// Cost     a program of n^2 / 2 columns a type with n kinds of as many GPUs.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/sharers.h"

namespace almanac::policy {

/// What time is given to: a job of a kind, or two, on GPUs of a type.
struct Unit {
  SharerKind one{};
  SharerKind other{};  ///< That of the second, not below `one`; the same as `one` where there is
                       ///< none.
  bool is_pair = false;
  std::uint64_t type = 0;  ///< One bit.

  auto operator<=>(const Unit&) const = default;
};
Unit unit_of(const SharerKind& kind, std::uint64_t type);
/// Of two, in any order.
Unit unit_of(const SharerKind& one, const SharerKind& other, std::uint64_t type);

/// How many of each unit are to run at a time; of those that are to have none nothing is said.
/// `rates` is how fast a job is alone on each type of `stock`, all that `vc` has. How fast jobs are
/// beside each other is predicted (View::speeds); without that none are paired, nor are two that
/// together ask more memory of a GPU than it has.
std::map<Unit, double> divide_among_pairs(std::span<const JobId> jobs,
                                          const std::vector<Stock>& stock, VcId vc,
                                          const std::function<std::vector<double>(JobId)>& rates,
                                          SharerKinds& kinds, const View& view,
                                          const cluster::Ledger& ledger);

}  // namespace almanac::policy
