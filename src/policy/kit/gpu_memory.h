// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether jobs that request whole GPUs fit together into GPU memory.
#pragma once

#include <cstdint>
#include <span>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns the memory, in MB, that all of `jobs` together request of each of their GPUs. A job that
/// does not state its memory counts as 0.
std::int32_t gpu_memory_mb(std::span<const JobId> jobs, const View& view);

/// Whether each GPU of `held` has that much memory; GPUs of unknown size do.
bool fits_gpu_memory(std::span<const cluster::Grant> held, std::span<const JobId> jobs,
                     const View& view, const cluster::Ledger& ledger);

}  // namespace almanac::policy
