// SPDX-License-Identifier: Apache-2.0

/// \file
/// How unevenly users share something: the curves of the Helios study.
///
/// Source   Hu et al., SC'21, Figures 8 and 9(a): users in descending order of the quantity, the
///          cumulative share of it against the share of the users. Every user of the trace counts,
///          those with none of it too.
#pragma once

#include <functional>

#include "study/figures.h"

namespace almanac::study {

/// How many the top 5 % of so many users are: rounded up, of every user with a job that ran, in
/// every command alike.
constexpr std::size_t top_users(std::size_t users) { return (users + 19) / 20; }

/// What each user has: the sum of `amount` over their jobs.
struct UserShares {
  figure::Figure figure;  ///< Columns user, <quantity>, user_fraction, fraction.
  double top_5 = 0;       ///< Share of the top 5 % of the users, as top_users() counts them.
  std::size_t users = 0;
  std::size_t users_at_top = 0;  ///< How many the top 5 % are.
};

/// `amount` is asked for every job; NaN = not known, counts as 0.
UserShares user_shares(const Study& study, figure::Column quantity,
                       const std::function<double(const trace::Job&)>& amount);

}  // namespace almanac::study
