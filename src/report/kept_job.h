// SPDX-License-Identifier: Apache-2.0

/// \file
/// Explains why a job of a run waited, in words and as JSON.
#pragma once

#include <map>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/time.h"
#include "experiment/kept_waits.h"
#include "policy/contract/reason.h"

namespace almanac::report {

/// Returns what happened to the job, then one line for each wait with its reason.
std::string kept_job_in_words(const experiment::KeptJob& job);
/// Returns a line for each failure that stopped a job: node, cause, work lost and when it ran
/// again; then their sum. "" without any.
std::string failures_in_words(std::span<const experiment::KeptFailure> failures);
nlohmann::ordered_json failures_json(std::span<const experiment::KeptFailure> failures);
/// Adds to the JSON of a wait Slurm's name of the reason, what put another job first, and what a
/// stop cost, if the reason says.
void add_terms(nlohmann::ordered_json& wait, const policy::Reason& reason);

nlohmann::ordered_json kept_job_json(const experiment::KeptJob& job);

/// Whether the run may have omitted reasons of this job. A run requests the reason again after a
/// tenth of the wait so far, and at least a minute, so it misses reasons in between.
bool may_lack_reasons(const experiment::KeptJob& job);

/// Returns what a job waited for: "for jobs ahead in the queue", or Slurm's reason, where Slurm's
/// reason rather than its resources explains the wait.
std::string waited_for(const policy::Reason& reason);

/// Returns, for example, "01:00:00 for jobs ahead in the queue, 00:30:00 for GPUs that others
/// held", the longest first, from the total of each waited_for().
std::string in_all(const std::map<std::string, Duration>& totals);

/// Returns a line saying that a job held its GPUs for longer than its log says; "" if it did not.
/// Such a job need not have waited: one that fails may restart at once.
std::string longer_run_in_words(Duration ran, Duration work);

}  // namespace almanac::report
