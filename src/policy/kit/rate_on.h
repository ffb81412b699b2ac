// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast a job is believed to be on GPUs that it does not hold.
#pragma once

#include <cstdint>
#include <span>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// The speed that is believed of a GPU job on `gpus` GPUs of a type (one bit), on as few nodes of
/// `vc` as hold them, with the cores and memory that it asks, and beside others; 0 = the nodes hold
/// fewer. View::speeds must be there.
double rate_on(JobId job, int gpus, std::uint64_t type, VcId vc, const View& view,
               const cluster::Ledger& ledger, std::span<const JobId> beside = {});

}  // namespace almanac::policy
