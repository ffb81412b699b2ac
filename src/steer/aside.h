// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which of the waiting jobs a policy may see. Those that Slurm would not start whatever their
/// priority, and those that are none of our business, stand aside.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "slurm/job.h"
#include "steer/mirror.h"
#include "steer/settings.h"

namespace almanac::steer {

enum class Aside : std::uint8_t {
  no,
  held,
  begins_later,
  depends,
  partition_down,
  no_partition,   ///< Of none that is known.
  heterogeneous,  ///< Its parts have to start together, which no policy knows of.
  reserved,       ///< Runs in a reservation, on nodes that no other job may use.
  limited,        ///< At a limit of its user, account or QOS, or short of licences.
  at_quota,       ///< Asks more GPUs than a quota that is known leaves (slurm/quotas.h).
  elsewhere,      ///< Would not start on any node that suits it and has room (suitable.h).
  in_vain,        ///< Slurm did not start it where it could have (lever.h).
  exempt,
};

Aside aside(const slurm::Job& job, const Mirror& mirror, const Exempt& exempt, Time now);
/// Whether no lever may touch it.
bool is_exempt(const slurm::Job& job, const Exempt& exempt);
/// "is held by a user": behind "job 12 ".
std::string_view to_words(Aside why);

}  // namespace almanac::steer
