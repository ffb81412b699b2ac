// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly users share something: the curves of the Helios study.
///
/// Source   Hu et al., SC'21, Figures 8 and 9(a): users in descending order of the quantity, its
///          cumulative share against the share of the users. Counts every user of the trace,
///          including those with none.
#pragma once

#include <functional>

#include "study/figures.h"

namespace almanac::study {

/// Returns the number of users in the top 5 %, rounded up, of all users with a job that ran; the
/// same in every command.
constexpr std::size_t top_users(std::size_t users) { return (users + 19) / 20; }

/// The amount of each user: the sum of `amount` over the user's jobs.
struct UserShares {
  figure::Figure figure;  ///< Columns user, <quantity>, user_fraction, fraction.
  double top_5 = 0;       ///< Share of the top 5 % of the users, as top_users() counts them.
  std::size_t users = 0;
  std::size_t users_at_top = 0;  ///< How many the top 5 % are.
};

/// Calls `amount` for every job; NaN means unknown, and counts as 0.
UserShares user_shares(const Study& study, figure::Column quantity,
                       const std::function<double(const trace::Job&)>& amount);

}  // namespace almanac::study
