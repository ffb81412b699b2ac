// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tasks of a step: the same command so many times, each told by Slurm's variables which it is.
///
/// Source   srun(1) of Slurm 23.02, "OUTPUT ENVIRONMENT VARIABLES", --output, --kill-on-bad-exit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stand_in/gpus.h"
#include "stand_in/srun_options.h"

namespace almanac::stand_in {

/// What task `number` is told, of the job's `variables`.
std::vector<std::string> environment_of(const Step& step, const StepGpus& gpus, int number,
                                        const std::vector<std::string>& variables);

/// The file that `pattern` stands for: %j %J job, %s step, %t task, %n %N node, %u user, %x name,
/// %A %a of an array, %% itself.
std::string file_of(const std::string& pattern, int task,
                    const std::vector<std::string>& variables);

/// Runs the tasks until all have ended; a single one takes our place. Gives the highest exit
/// status, 128 and the signal of one that a signal ended. Signals that are sent to us go on to the
/// tasks.
Result<int> run_step(const Step& step, const StepGpus& gpus,
                     const std::vector<std::string>& variables);

}  // namespace almanac::stand_in
