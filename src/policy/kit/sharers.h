// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that might run on the same GPUs: which are alike, how fast they would be there, and which
/// share GPUs already.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// What is predicted of one job beside others holds for all of its kind.
struct SharerKind {
  int gpus = 0;                 ///< That it asks, 0 = a CPU job.
  std::uint64_t gpu_types = 0;  ///< That will do.
  std::size_t model = 0;        ///< Of View::speeds, with a batch; in order of first sight.
  std::int32_t gpu_memory_mb = 0;

  auto operator<=>(const SharerKind&) const = default;
};

class SharerKinds {
 public:
  SharerKind of(JobId job, const View& view);

 private:
  std::unordered_map<SpeedModelId, std::size_t> models_;
};

/// Speeds of a job on the same GPUs, with others and without.
struct SharerRate {
  double beside = 0;
  double alone = 0;
};

/// Those that are predicted of `jobs`, all on the same `gpus` GPUs of a type (one bit) that `vc`
/// has; a job named twice stands for two that are alike. Nothing = such a GPU has less memory than
/// they ask together. View::speeds must be there.
std::vector<SharerRate> rates_together(std::span<const JobId> jobs, int gpus, std::uint64_t type,
                                       VcId vc, const View& view, const cluster::Ledger& ledger);

/// How many pairs of `jobs` run on the same GPUs now.
std::size_t pairs_that_share(std::span<const JobId> jobs, const View& view);

}  // namespace almanac::policy
