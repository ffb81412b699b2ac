// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether a job may be joined by another on the GPUs that it holds, whatever that does to their
/// speeds: of a live cluster not all that a policy could pair can be brought together.
#pragma once

#include <functional>

#include "base/ids.h"

namespace almanac::policy {

using MayShare = std::function<bool(JobId host, JobId guest)>;

}  // namespace almanac::policy
