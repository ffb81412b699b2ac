// SPDX-License-Identifier: Apache-2.0

/// \file
/// Divides time on GPU types among single jobs and pairs of jobs on the same GPUs by max-min
/// fairness: the program of rules/timeshare/packed.h in the terms of a policy.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), section 4.2.
/// Cost     a program of n^2 / 2 columns per type with n kinds of equal GPU count, unless it was
///          solved before
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/sharers.h"
#include "rules/timeshare/packed.h"

namespace almanac::policy {

/// What gets time: a job of a kind, or two jobs, on GPUs of a type.
struct Unit {
  SharerKind one{};
  SharerKind other{};  ///< Kind of the second job, at least `one`; equal to `one` if there is
                       ///< none.
  bool is_pair = false;
  std::uint64_t type = 0;  ///< One bit.

  auto operator<=>(const Unit&) const = default;
};
Unit unit_of(const SharerKind& kind, std::uint64_t type);
/// Returns the unit of two kinds, in any order.
Unit unit_of(const SharerKind& one, const SharerKind& other, std::uint64_t type);

/// Returns how many of each unit should run at the same time, without units of none. `rates`
/// returns the speed of a job alone on each type of `stock`, which is all that `vc` has. Speeds of
/// pairs are predicted (View::speeds); without these there are no pairs, nor are there pairs that
/// need more GPU memory than a GPU has. `programs` remembers the answers.
std::map<Unit, double> divide_among_pairs(std::span<const JobId> jobs,
                                          const std::vector<Stock>& stock, VcId vc,
                                          const std::function<std::vector<double>(JobId)>& rates,
                                          SharerKinds& kinds, timeshare::PackedPrograms& programs,
                                          const View& view, const cluster::Ledger& ledger);

}  // namespace almanac::policy
