// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Slurm's plugin job_submit/almanac asks of a job that is just being submitted, and hears.
///
/// Lines "name value", the first of which is "almanac-job-submit 1". Names are those of
/// src/job_submit/plugin.cpp; what is missing the user did not say. The answer: "site_factor N",
/// "hold SECONDS", or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slurm/job.h"

namespace almanac::steer {

/// Nothing for what is no such question, or is of another version. The job has neither a number nor
/// the name of its user.
std::optional<slurm::Job> read_question(std::string_view text);

/// What is to be said of it.
struct Answer {
  std::optional<std::int64_t> site_factor{};
  Duration hold{};  ///< So long it may not begin, unless we release it; 0 = it may.
};
std::string to_text(const Answer& answer);

}  // namespace almanac::steer
