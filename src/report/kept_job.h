// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a job of a run waited, in words and as JSON.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/time.h"
#include "experiment/kept_waits.h"
#include "policy/contract/reason.h"

namespace almanac::report {

/// What became of the job, then each wait with its reason, in lines.
std::string kept_job_in_words(const experiment::KeptJob& job);
nlohmann::ordered_json kept_job_json(const experiment::KeptJob& job);

/// Whether the run may have left out reasons of this job: those that came and went within a tenth
/// of its wait until then.
bool may_lack_reasons(const experiment::KeptJob& job);

/// "01:00:00 for jobs ahead in the queue, 00:30:00 for GPUs that others held", the longest first.
std::string in_all(const std::map<policy::ReasonKind, Duration>& totals);

/// A line saying that a job held its GPUs for longer than its log says; "" = it did not. A job that
/// fails and starts again at once never waits.
std::string longer_run_in_words(Duration ran, Duration work);

}  // namespace almanac::report
