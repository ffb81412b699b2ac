// SPDX-License-Identifier: Apache-2.0

/// \file
/// The question of Slurm's plugin job_submit/almanac about a job that is being submitted, and the
/// answer.
///
/// Lines "name value", the first of which is "almanac-job-submit 1". Names are those of
/// src/job_submit/plugin.cpp; what is missing the user did not say. The answer: "site_factor N",
/// "hold SECONDS", or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "manager/job.h"

namespace almanac::steer_slurm {

/// Nothing if the text is not such a question, or has another version. The job has neither a number
/// nor the name of its user.
std::optional<manager::Job> read_question(std::string_view text);

/// The answer about a job.
struct Answer {
  std::optional<std::int64_t> site_factor{};
  Duration hold{};  ///< How long it must not start unless Almanac releases it; 0 if it may start.
};
std::string to_text(const Answer& answer);

}  // namespace almanac::steer_slurm
