// SPDX-License-Identifier: Apache-2.0

/// \file
/// Converts rows of Slurm's accounting to jobs of the store.
///
/// A job of the store has all runs of a Slurm job; accounting has one row for each run of a
/// requeued job. Each task of an array and each part of a heterogeneous job is a job of its own, as
/// Slurm numbers them. Slurm reuses a number after 67 million jobs, or when an administrator resets
/// the numbers. The store's number is Slurm's number, and above its 32 bits how often it was used
/// before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "manager/job.h"
#include "store/job.h"

namespace almanac::accounting {

/// Which property of a Slurm job becomes its virtual cluster.
enum class VcFrom : std::uint8_t { partition, account, qos };

/// Returns the store's number of a job that Slurm calls `number` and that `again` jobs had before.
store::JobNumber stored_number(manager::JobNumber number, std::uint32_t again);

/// Returns the request of `job`, in the virtual cluster `vc`.
store::Submission asked_by(const manager::Job& job, std::string vc);

/// Returns an ended job with its one run. Its request for GPUs and memory is what it was allocated.
store::Job past_job(const manager::Job& row, VcFrom vc);

/// Whether `row` is a run of the job `known`: user and name are the same.
bool is_of(const store::Job& known, const store::Job& row);

/// Returns `known` with the run of `row`, which began before or ended after all its runs. Returns
/// nothing if `known` has that run, or has not ended, because the service then records its runs.
std::optional<store::Job> with_run(const store::Job& known, const store::Job& row);

}  // namespace almanac::accounting
