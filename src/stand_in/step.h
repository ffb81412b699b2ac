// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the tasks of a step: copies of one command, each with Slurm's variables for its number.
///
/// Source   srun(1) of Slurm 23.02, "OUTPUT ENVIRONMENT VARIABLES", --output, --kill-on-bad-exit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stand_in/gpus.h"
#include "stand_in/srun_options.h"

namespace almanac::stand_in {

/// Returns the environment of task `number`: the job's `variables` and its own.
std::vector<std::string> environment_of(const Step& step, const StepGpus& gpus, int number,
                                        const std::vector<std::string>& variables);

/// Replaces in `pattern` %j and %J by the job, %s by the step, %t by the task, %n and %N by the
/// node, %u by the user, %x by the name, %A and %a by the array and its task, and %% by %.
std::string file_of(const std::string& pattern, int task,
                    const std::vector<std::string>& variables);

/// Runs all tasks until they end; a single task replaces this process. Returns the highest exit
/// status, which is 128 + the signal for a task that a signal ended. Forwards signals to the tasks.
Result<int> run_step(const Step& step, const StepGpus& gpus,
                     const std::vector<std::string>& variables);

}  // namespace almanac::stand_in
