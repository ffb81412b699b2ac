// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether jobs that ask whole GPUs fit into the memory of the same ones.
#pragma once

#include <cstdint>
#include <span>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Memory that all of `jobs` ask of each of their GPUs together, MB. A job that does not say what
/// it needs is taken to need none.
std::int32_t gpu_memory_mb(std::span<const JobId> jobs, const View& view);

/// Whether each GPU of `held` has as much; one of which it is not said has.
bool fits_gpu_memory(std::span<const cluster::Grant> held, std::span<const JobId> jobs,
                     const View& view, const cluster::Ledger& ledger);

}  // namespace almanac::policy
