// SPDX-License-Identifier: Apache-2.0

/// \file
/// The GPUs of a step of a job. A step that requests some of its job's GPUs has exclusive use of
/// them while it runs: `srun --gpus=1 a & srun --gpus=1 b & wait` runs each on its own GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::stand_in {

/// The names of GPUs, as programs see them. A step with only some of the job's GPUs holds a lock on
/// each until its last process ends, because processes inherit the file descriptor.
struct StepGpus {
  std::vector<std::string> names{};
  int lock = -1;  ///< Descriptor of the lock; -1 = none.
};

/// Splits a list such as "0,2".
std::vector<std::string> held_gpus(const std::string& visible);

/// Returns `wanted` GPUs of `held` that no other step has locked, and waits until there are so
/// many, unless `immediate`. Without `wanted`, returns all of them without a lock. `lock_file` is
/// the same for all steps of a run and belongs to the job's user; with "", steps share GPUs. Fails
/// with usage if the job has fewer GPUs, and with unavailable if `immediate` and other steps have
/// them.
Result<StepGpus> take_gpus(const std::vector<std::string>& held, std::optional<int> wanted,
                           const std::string& lock_file, bool immediate);

}  // namespace almanac::stand_in
