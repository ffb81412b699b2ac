// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs that the policy does not see: those that the manager would not start at any
/// priority, and those that Almanac must not touch.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "manager/job.h"
#include "steer/mirror.h"
#include "steer/settings.h"

namespace almanac::steer {

enum class Aside : std::uint8_t {
  no,
  held,
  begins_later,
  depends,
  partition_down,
  no_partition,   ///< In no known partition.
  heterogeneous,  ///< Its parts must start together, which policies cannot do.
  reserved,       ///< Runs in a reservation, on nodes that no other job may use.
  limited,        ///< At a limit of its user, account or QOS, or out of licenses.
  at_quota,       ///< Requests more GPUs than a known quota has left (manager/quotas.h).
  elsewhere,      ///< No node that suits it has room (suitable.h).
  in_vain,        ///< The manager did not start it although it could (lever.h).
  exempt,
};

Aside aside(const manager::Job& job, const Mirror& mirror, const Exempt& exempt, Time now);
/// Whether levers must not touch a job.
bool is_exempt(const manager::Job& job, const Exempt& exempt);
/// "is held by a user", to follow "job 12 ".
std::string_view to_words(Aside why);

}  // namespace almanac::steer
