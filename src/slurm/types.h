// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes what every workload manager reports (room manager) available in this namespace.
#pragma once

#include "manager/link.h"

namespace almanac::slurm {

using manager::Abilities;
using manager::Association;
using manager::Fate;
using manager::Held;
using manager::Job;
using manager::JobChange;
using manager::JobNumber;
using manager::kFateWords;
using manager::Licence;
using manager::Limits;
using manager::Link;
using manager::News;
using manager::Node;
using manager::Partition;
using manager::Power;
using manager::QosPriority;
using manager::Quota;
using manager::Reservation;
using manager::Site;
using manager::State;
using manager::TakeEnded;

/// Slurm counts memory in MiB.
inline constexpr double kMibPerGb = 1024;

}  // namespace almanac::slurm
