// SPDX-License-Identifier: Apache-2.0

/// \file
/// Invents the users: how much each submits, which sizes each likes, how long the jobs of each run.
///
/// Source   Hu et al., SC'21, Figure 8(a): the share curve of GPU time over users is close to that
///          of a log-normal (top 1 / 5 / 10 / 20 % hold 31.6 / 59.6 / 74.6 / 88.2 %, a log-normal
///          with spread 1.9 33.5 / 60.1 / 73.2 / 85.5 %).
#pragma once

#include <cstdint>
#include <vector>

#include "base/names.h"
#include "trace/workload.h"

namespace almanac::trace {

struct MadeUser {
  NameId name = kNoName;
  double activity = 1;  ///< Weight of the user's jobs within the virtual cluster.
  double taste = 0;     ///< > 0 likes large jobs, < 0 small ones; spread 1.
  double latent = 0;    ///< Normal score: > 0 runs longer than others; spread 1.
};

struct Users {
  std::vector<MadeUser> users;        ///< By virtual cluster.
  std::vector<std::uint32_t> bounds;  ///< The bounds of VC v are bounds[v] .. bounds[v + 1].
};

Users make_users(const Workload& workload, std::uint64_t seed, Names& names);

}  // namespace almanac::trace
