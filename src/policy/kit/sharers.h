// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that might run on the same GPUs: which are equal, how fast they would be there, and which
/// already share GPUs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Predictions for one job next to others hold for all jobs of its kind.
struct SharerKind {
  int gpus = 0;                 ///< GPUs requested; 0 for a CPU job.
  std::uint64_t gpu_types = 0;  ///< Accepted types, as bits.
  std::size_t model = 0;        ///< Model of View::speeds, with a batch, numbered by first use.
  std::int32_t gpu_memory_mb = 0;

  auto operator<=>(const SharerKind&) const = default;
};

class SharerKinds {
 public:
  SharerKind of(JobId job, const View& view);

 private:
  std::unordered_map<SpeedModelId, std::size_t> models_;
};

/// Speeds of a job on the same GPUs, with others and alone.
struct SharerRate {
  double beside = 0;
  double alone = 0;
};

/// Returns the predicted speeds of `jobs` if all are on the same `gpus` GPUs of a type (one bit) of
/// `vc`. A job named twice stands for two equal jobs. Returns nothing if such a GPU has less memory
/// than they request together. Requires View::speeds.
std::vector<SharerRate> rates_together(std::span<const JobId> jobs, int gpus, std::uint64_t type,
                                       VcId vc, const View& view, const cluster::Ledger& ledger);

/// Returns how many pairs of `jobs` share GPUs now.
std::size_t pairs_that_share(std::span<const JobId> jobs, const View& view);

}  // namespace almanac::policy
