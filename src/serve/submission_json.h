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
/// Fails as read_submission(), and where nothing is to change.
Result<store::Amended> read_amended(std::string_view text);

/// A submission without `user`, `uid` and `gid`: the socket tells those. Fails with invalid at the
/// first field that is unknown or of another type. Whether it makes sense the service decides
/// (submission/validate.h).
Result<store::Submission> read_submission(std::string_view text);

}  // namespace almanac::serve
