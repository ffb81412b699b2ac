// SPDX-License-Identifier: Apache-2.0
#include "predict/limit_use.h"

#include <algorithm>

namespace almanac::predict {
namespace {

/// All jobs, those with about this limit, those of the user, those of both.
std::array<std::uint64_t, 4> limit_kinds(const trace::Request& request) {
  const std::uint64_t limit = Distribution::cell_of(log_time(request.time_limit)) + 1;
  std::array<std::uint64_t, 4> made{1, limit << 2U | 2U};
  if (request.user == kNoName) return made;
  const std::uint64_t user = std::uint64_t{index(request.user)} << 32U;
  made[2] = user | 3U;
  made[3] = user | limit << 2U | 3U;
  return made;
}

/// Before any job has ended: every ratio from 1/1000 to 1 is as likely.
NestedCounts::Shares any_ratio() {
  constexpr std::size_t kThreeDecades = 75;
  NestedCounts::Shares made{};
  std::fill_n(made.begin(), kThreeDecades, 1.0F / kThreeDecades);
  return made;
}

}  // namespace

Distribution LimitUse::run_time(const trace::Request& request) const {
  static const NestedCounts::Shares kAnyRatio = any_ratio();
  const auto shares = cells_below_limit_.shares(limit_kinds(request), kAnyRatio);
  const std::size_t limit = Distribution::cell_of(log_time(request.time_limit));
  Distribution made;
  for (std::size_t below = 0; below < shares.size(); ++below) {
    made.add_cell(limit - std::min(limit, below), shares[below]);
  }
  return made;
}

void LimitUse::learn(const trace::Request& request, Duration ran) {
  if (request.time_limit == kNoDuration) return;
  const std::size_t limit = Distribution::cell_of(log_time(request.time_limit));
  const std::size_t cell = Distribution::cell_of(log_time(ran));
  cells_below_limit_.add(limit_kinds(request), limit - std::min(limit, cell));
}

}  // namespace almanac::predict
