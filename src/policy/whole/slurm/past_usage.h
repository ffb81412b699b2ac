// SPDX-License-Identifier: Apache-2.0

/// \file
/// The usage of associations that policy slurm begins with, if only the jobs before are known.
#pragma once

#include <span>

#include "base/names.h"
#include "policy/contract/host.h"
#include "site/site.h"

namespace almanac::policy::whole {

/// Replaces the usage of all associations and QOS by what `uses` left of it at `now` after decay. A
/// GPU is billed as an equal part of the first node with GPUs of the default partition, or of the
/// first one. Each user's jobs count for the user's default association; uses of others are left
/// out.
/// Cost: O(uses + associations)
void set_past_usage(site::Site& site, std::span<const PastUse> uses, const Names& names, Time now);

}  // namespace almanac::policy::whole
