// SPDX-License-Identifier: Apache-2.0

/// \file
/// A trial as a job of a service.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/job.h"
#include "submission/trials/draw.h"

namespace almanac::trials {

/// "mnist-7".
std::string job_name(const std::string& tuning, const Trial& trial);

/// "lr=0.01", in the order of the space.
std::vector<std::string> parameters(const Space& space, const Trial& trial);

/// Returns the trial that a job with this name and these parameters is; nothing if the tuning run
/// has no such trial.
std::optional<Trial> trial_of(const Space& space, const std::string& tuning,
                              std::string_view job_name, std::span<const std::string> parameters);

/// Returns the job of a trial; `base` has the request, user and folder. The command gets its
/// parameters as {lr} and {flags}, and in ALMANAC_PARAMETER_lr, ALMANAC_TRIAL and ALMANAC_SWEEP.
/// Its key identifies it, so submitting it twice has no effect.
store::Submission to_job(const Space& space, const std::string& tuning, const Trial& trial,
                         store::Submission base);

}  // namespace almanac::trials
