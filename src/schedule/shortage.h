// SPDX-License-Identifier: Apache-2.0

/// \file
/// Names more exactly what a waiting job lacks than policies do, which only say that GPUs are short
/// or spread out.
#pragma once

#include "cluster/ledger.h"
#include "policy/contract/reason.h"

namespace almanac::schedule {

/// If a job of `wanted` in `vc` requests NVLink groups, makes them the reason why enough free GPUs
/// do not fit it.
void name_nvlink(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& wanted,
                 policy::Reason& reason);

/// If it requests a part of a GPU, names what is short: compute, or memory next to enough compute.
/// Cost: a step for each GPU that jobs hold in part.
void name_part(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& wanted,
               policy::Reason& reason);

}  // namespace almanac::schedule
