// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_users.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "stats/normal.h"

namespace almanac::trace {

Users make_users(const Workload& workload, std::uint64_t seed, Names& names) {
  Rng rng(seed);
  Users made;
  made.bounds.push_back(0);
  for (const Workload::Vc& vc : workload.vc) {
    made.bounds.push_back(made.bounds.back() + static_cast<std::uint32_t>(vc.users));
  }
  const std::size_t count = made.bounds.back();
  made.users.resize(count);
  // Evenly spaced quantiles, not draws: a month has few users, and the share curve hangs on the
  // first of them. Chance decides only which user gets which.
  for (std::size_t i = 0; i < count; ++i) {
    const double rank = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    made.users[i].activity = std::exp(workload.user.activity_spread * stats::normal_quantile(rank));
  }
  for (std::size_t i = count; i > 1; --i) {
    std::swap(made.users[i - 1], made.users[static_cast<std::size_t>(rng.below(i))]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    made.users[i].name = names.intern(fmt::format("u{:04}", i + 1));
    made.users[i].taste = stats::normal_draw(rng);
    made.users[i].latent = stats::normal_draw(rng);
  }
  return made;
}

}  // namespace almanac::trace
