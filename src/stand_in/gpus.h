// SPDX-License-Identifier: Apache-2.0

/// \file
/// The GPUs of a step of a job. A step that asks for some of its job's GPUs has these alone, as
/// long as it runs: `srun --gpus=1 a & srun --gpus=1 b & wait` runs each on its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::stand_in {

/// GPUs by the names that programs are told. A step that has some of them only holds a lock on
/// each for as long as any process of it lives: the descriptor is inherited.
struct StepGpus {
  std::vector<std::string> names{};
  int lock = -1;  ///< -1 = it holds none.
};

/// "0,2" in parts.
std::vector<std::string> held_gpus(const std::string& visible);

/// `wanted` of `held`, those that no other step has; nothing = all of them, as every other step
/// may. Waits until there are so many, unless `immediate`. `lock_file`: of the job's user, the same
/// for all steps of a run; "" = steps share. Fails with usage where the job has fewer, with
/// unavailable where `immediate` and others have them.
Result<StepGpus> take_gpus(const std::vector<std::string>& held, std::optional<int> wanted,
                           const std::string& lock_file, bool immediate);

}  // namespace almanac::stand_in
