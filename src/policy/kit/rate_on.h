// SPDX-License-Identifier: Apache-2.0

/// \file
/// The estimated speed of a job on GPUs that it does not hold.
#pragma once

#include <cstdint>
#include <span>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns the estimated speed of a GPU job on `gpus` GPUs of a type (one bit), on the fewest nodes
/// of `vc`, with the cores and memory that it requests, next to the jobs `beside`; 0 if the nodes
/// have too few GPUs. Requires View::speeds.
double rate_on(JobId job, int gpus, std::uint64_t type, VcId vc, const View& view,
               const cluster::Ledger& ledger, std::span<const JobId> beside = {});

}  // namespace almanac::policy
