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

/// Fails like Job::start(), and with `unavailable` if it has not ended within `patience` or when
/// `stop` is rung (null for never); it is then killed with all its children. Ignores `command`'s
/// out and err.
Result<Captured> capture(Command command, Duration patience, const Bell* stop = nullptr);

}  // namespace almanac::process
