// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a command to its end and gives what it wrote.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "process/bell.h"
#include "process/job.h"

namespace almanac::process {

struct Captured {
  std::string out{};
  std::string err{};
  Ending ending{};
};

/// Fails as Job::start() does, and with unavailable when it has not ended within `patience` or when
/// `stop` is rung (null = never); then it is killed with all that it started. `command`'s out and
/// err are not used.
Result<Captured> capture(Command command, Duration patience, const Bell* stop = nullptr);

}  // namespace almanac::process
