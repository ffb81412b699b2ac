// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cold start as options state it: a time, or where the weights are.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "inference/service.h"

namespace almanac::cli {

/// Reads a time such as 30s, or disk, memory or sleep (inference/cold_start.h), for which it notes
/// the time that it derives. Fails with usage; `what` is the name of the option.
Result<Duration> read_cold_start(const std::string& what, const std::string& told,
                                 const inference::Service& service);

}  // namespace almanac::cli
