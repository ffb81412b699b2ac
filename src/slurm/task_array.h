// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job array of ours: submitted by sbatch, and how its tasks stand, by squeue.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "slurm/command_link.h"
#include "slurm/states.h"

namespace almanac::slurm {

struct TaskArray {
  std::string name{};
  std::vector<std::uint32_t> tasks{};  ///< Rising.
  std::string script{};                ///< Lines of shell; SLURM_ARRAY_TASK_ID is the task.
  std::string err{};  ///< File of each task's errors, as for sbatch: %a is the task.
  int cores = 1;
  std::vector<std::string> options{};  ///< More words for sbatch.
};

/// Fails with not_found without sbatch, and with what Slurm says to a refusal.
Result<JobNumber> submit(const TaskArray& array, const RunCommand& run = run_slurm);

struct Task {
  State state = State::pending;
  std::string word{};    ///< Slurm's for the state.
  std::string reason{};  ///< Why it waits, in Slurm's words.
};

/// The tasks that Slurm still knows, by number; ended ones leave after a while (MinJobAge). Fails
/// with unavailable when the controller does not answer.
Result<std::map<std::uint32_t, Task>> tasks_of(JobNumber array, const RunCommand& run = run_slurm);

}  // namespace almanac::slurm
