// SPDX-License-Identifier: Apache-2.0

/// \file
/// The GPUs that we may use, and how a command gets its own.
///
/// Source   CUDA C++ Programming Guide, "CUDA Environment Variables".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::gpu {

/// A GPU as CUDA_VISIBLE_DEVICES names it.
struct Visible {
  std::string name;        ///< "0", "GPU-1a2b...", "MIG-...".
  std::optional<int> gpu;  ///< The driver's number; nothing when it does not know it.
};

/// Returns the GPUs in `variable` (our CUDA_VISIBLE_DEVICES), otherwise all: `uuids`, by the
/// driver's index. Like CUDA, stops at the first invalid name ("-1", "").
std::vector<Visible> visible_gpus(std::optional<std::string_view> variable,
                                  const std::vector<std::string>& uuids);

/// The value of CUDA_VISIBLE_DEVICES for the first `count`.
std::string cuda_visible_devices(const std::vector<Visible>& gpus, int count);

}  // namespace almanac::gpu
