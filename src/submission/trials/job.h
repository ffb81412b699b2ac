// SPDX-License-Identifier: Apache-2.0

/// \file
/// A trial as a job of a service.
#pragma once

#include <string>

#include "store/job.h"
#include "submission/trials/draw.h"

namespace almanac::trials {

/// "mnist-7".
std::string job_name(const std::string& tuning, const Trial& trial);

/// "lr=0.01", in the order of the space.
std::vector<std::string> parameters(const Space& space, const Trial& trial);

/// `base` asks for it, and says who and where. The command is told its parameters by {lr} and
/// {flags}, and by ALMANAC_PARAMETER_lr, ALMANAC_TRIAL and ALMANAC_SWEEP. By its key the service
/// knows it again: submitted twice it is there once.
store::Submission to_job(const Space& space, const std::string& tuning, const Trial& trial,
                         store::Submission base);

}  // namespace almanac::trials
