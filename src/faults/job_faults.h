// SPDX-License-Identifier: Apache-2.0

/// \file
/// When jobs fail by themselves: a Poisson process for each job, in time on its GPUs.
///
/// The failures of a job depend on the seed, the job and its GPUs only, not on when and where it
/// runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "faults/model.h"

namespace almanac::faults {

/// Cost     24 bytes per job.
class JobFaults {
 public:
  /// `model` must outlive it.
  JobFaults(const Model& model, std::uint64_t seed, std::size_t num_jobs);

  /// Returns the time on its GPUs, more than `attained`, after which a job on `gpus` GPUs fails
  /// next; nothing if it never does.
  std::optional<Duration> next(JobId job, int gpus, Duration attained);
  /// Returns the cause of the failure that next() returned, and goes on to the one after.
  std::uint16_t take(JobId job, int gpus);

 private:
  struct Job {
    Rng rng{0};
    Duration at = kNoDuration;  // kNoDuration = not drawn yet
  };
  void draw(Job& state, int gpus, Duration after);

  const Model& model_;
  std::uint64_t seed_;
  bool any_ = false;  // whether jobs fail by themselves
  std::vector<Job> jobs_;
};

}  // namespace almanac::faults
