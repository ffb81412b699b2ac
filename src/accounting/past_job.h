// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of Slurm's accounting as jobs of the store.
///
/// A job of the store is all runs of a job of Slurm: one that was requeued has a row for each run.
/// Each task of an array and each part of a heterogeneous job is a job of its own, as Slurm numbers
/// them. Slurm gives a number again after 67 million jobs, or when an administrator says so; the
/// store's number is then Slurm's and above its 32 bits how often it had been given before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slurm/job.h"
#include "store/job.h"

namespace almanac::accounting {

/// What is taken for the virtual cluster of a job.
enum class VcFrom : std::uint8_t { partition, account, qos };

/// The number in the store of a job that Slurm calls `number` and that is the `again`th of it.
store::JobNumber stored_number(slurm::JobNumber number, std::uint32_t again);

/// What a job asks, in the virtual cluster `vc`.
store::Submission asked_by(const slurm::Job& job, std::string vc);

/// A job that has ended, of its one run. What it asked of GPUs and memory is what it got.
store::Job past_job(const slurm::Job& row, VcFrom vc);

/// Whether `row` is a run of the job that `known` is of: of the same user and name.
bool is_of(const store::Job& known, const store::Job& row);

/// `known` with the run of `row`, which began before or ended after all that it has. Nothing if it
/// has that run already, or if the service that sees it run keeps it.
std::optional<store::Job> with_run(const store::Job& known, const store::Job& row);

}  // namespace almanac::accounting
