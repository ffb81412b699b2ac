// SPDX-License-Identifier: Apache-2.0

/// \file
/// The environment of a job's process: its GPUs, its job number, its output.
#pragma once

#include <string>

#include "machine/machine.h"
#include "shepherd/run.h"
#include "store/job.h"

namespace almanac::machine {

/// Returns how to run `job`, which holds its GPUs. `asked` has its environment and script.
///
/// The environment is the user's, plus CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES (empty for a job
/// without GPUs), CUDA_DEVICE_ORDER, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE for a part of a GPU
/// and CUDA_MPS_PINNED_DEVICE_MEM_LIMIT for the memory that it asks with it, ALMANAC_JOB_ID,
/// ALMANAC_JOB_NAME, ALMANAC_ATTEMPT, ALMANAC_GPUS, ALMANAC_CPUS, ALMANAC_PROGRESS (a file in
/// `folder`, the folder of the run; machine/vitals.h), ALMANAC_ARRAY_JOB_ID and
/// ALMANAC_ARRAY_TASK_ID, and OMP_NUM_THREADS unless set. A job that can run on several numbers of
/// GPUs also gets ALMANAC_ALLOCATION, a file with allocation_of(), and ALMANAC_BATCH if its policy
/// sets a batch size.
shepherd::Spec spec_of(const store::Job& job, const store::Submission& asked,
                       const Machine& machine, std::int32_t batch, const std::string& folder);

/// Returns what each box runs of a job on boxes: as spec_of(), with what the job holds there. A job
/// on several boxes also gets how its tasks find each other: MASTER_ADDR (the first box),
/// MASTER_PORT, NODE_RANK, NNODES, RANK and WORLD_SIZE (a task per box), ALMANAC_NODES (the boxes,
/// "a,b"), and of Slurm's variables, for scripts written for it, the same.
std::vector<shepherd::Part> parts_of(const store::Job& job, const store::Submission& asked,
                                     const Machine& machine, std::int32_t batch,
                                     const std::string& folder);

/// Returns the current allocation of such a job as lines of shell: CUDA_VISIBLE_DEVICES,
/// HIP_VISIBLE_DEVICES, ALMANAC_GPUS, ALMANAC_CPUS, ALMANAC_BATCH.
std::string allocation_of(const store::Job& job, const Machine& machine, std::int32_t batch);

/// Returns CUDA_VISIBLE_DEVICES for these grants: "0,2".
std::string visible_gpus(const std::vector<cluster::Grant>& held, const Machine& machine);
/// Extracts it from a text of allocation_of().
std::string visible_gpus(const std::string& allocation);

/// Returns "gpu01: GPUs 0,1": where a job runs, for display.
std::string where_text(const store::Job& job, const Machine& machine);

}  // namespace almanac::machine
