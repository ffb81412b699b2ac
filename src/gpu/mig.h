// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs partitioned into MIG instances, as NVML reports and creates them.
///
/// Source   NVML API reference, "Multi Instance GPU Management". An instance for a job is a GPU
///          instance with one compute instance that has all of it; its device has a UUID that
///          CUDA_VISIBLE_DEVICES takes.
#pragma once

#include <string>

namespace almanac::gpu {

/// A size that an instance of a GPU may have.
struct MigProfile {
  unsigned id = 0;         ///< The driver's.
  int compute_slices = 0;  ///< Out of seven, or four.
  double memory_gb = 0;
  int multiprocessors = 0;
  int most = 0;  ///< Instances of it on one GPU.
  bool has_media = false;
};

struct MigInstance {
  unsigned id = 0;       ///< The driver's, on its GPU.
  unsigned profile = 0;  ///< MigProfile::id.
  int start = 0;         ///< First memory slice.
  int size = 0;          ///< Memory slices.
  std::string uuid{};    ///< "MIG-..."; "" without a compute instance, or with several.
  std::string name{};    ///< "1g.10gb"; "" as well.

  bool operator==(const MigInstance&) const = default;
};

}  // namespace almanac::gpu
