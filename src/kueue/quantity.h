// SPDX-License-Identifier: Apache-2.0

/// \file
/// Amounts of resources in Kubernetes' notation.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace almanac::kueue {

/// Whole units of a resource: GPUs, bytes, pods; thousandths of a core for "cpu".
using Amount = std::int64_t;

/// Amounts are at most this, so that sums of some do not overflow.
inline constexpr Amount kMostAmount = Amount{1} << 60U;

/// Reads "8", "1500m", "0.5", "1e3", "64Gi", "2k". Rounds up to whole units, as Kueue does. Error:
/// `text` is no quantity, is negative, or exceeds 2^56.
///
/// Source   Kubernetes, apimachinery resource.Quantity (suffixes n u m k M G T P E, Ki to Ei,
///          exponents); Kueue, resources.ResourceValue() (cores in thousandths).
Result<Amount> read_quantity(std::string_view text, std::string_view resource);

/// Whether a resource counts GPUs: nvidia.com/gpu, amd.com/gpu, ...
inline bool is_gpu(std::string_view resource) {
  return resource.size() > 4 && resource.substr(resource.size() - 4) == "/gpu";
}

}  // namespace almanac::kueue
