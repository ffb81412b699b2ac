// SPDX-License-Identifier: Apache-2.0

/// \file
/// Submissions as JSON: the body of POST /v1/jobs. The user who submits is not part of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/job.h"

namespace almanac::serve {

std::string to_json(const store::Submission& submission);

/// The body of POST /v1/jobs/{number}/update.
std::string to_json(const store::Amended& wanted);
/// Fails like read_submission(), and if there is nothing to change.
Result<store::Amended> read_amended(std::string_view text);

/// Reads a submission without `user`, `uid` and `gid`, which the socket provides. Fails with
/// `invalid` at the first field that is unknown or has another type. The service decides whether it
/// makes sense (submission/validate.h).
Result<store::Submission> read_submission(std::string_view text);

}  // namespace almanac::serve
