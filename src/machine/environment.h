// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job's process is told: which GPUs, which job it is, where its output goes.
#pragma once

#include <string>

#include "machine/machine.h"
#include "shepherd/run.h"
#include "store/job.h"

namespace almanac::machine {

/// How `job`, which holds its GPUs, is run. `asked` has its environment and script.
///
/// The environment is the user's, and CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES (empty for a job
/// without GPUs), CUDA_DEVICE_ORDER, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE where a part of a GPU is
/// held, ALMANAC_JOB_ID, ALMANAC_JOB_NAME, ALMANAC_ATTEMPT, ALMANAC_GPUS, ALMANAC_CPUS,
/// ALMANAC_PROGRESS (a file in `folder`, the run's; machine/vitals.h), ALMANAC_ARRAY_JOB_ID and
/// ALMANAC_ARRAY_TASK_ID, OMP_NUM_THREADS unless it is set. Of a job that may run on several
/// numbers of GPUs also ALMANAC_ALLOCATION, a file with allocation_of(), and ALMANAC_BATCH where
/// its policy says one.
shepherd::Spec spec_of(const store::Job& job, const store::Submission& asked,
                       const Machine& machine, std::int32_t batch, const std::string& folder);

/// What such a job has now, as lines of a shell: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES,
/// ALMANAC_GPUS, ALMANAC_CPUS, ALMANAC_BATCH.
std::string allocation_of(const store::Job& job, const Machine& machine, std::int32_t batch);

/// What a job that holds these names its GPUs: "0,2".
std::string visible_gpus(const std::vector<cluster::Grant>& held, const Machine& machine);
/// The same, of a text of allocation_of().
std::string visible_gpus(const std::string& allocation);

/// "gpu01: GPUs 0,1": where a job runs, for people.
std::string where_text(const store::Job& job, const Machine& machine);

}  // namespace almanac::machine
