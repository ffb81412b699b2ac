// SPDX-License-Identifier: Apache-2.0

/// \file
/// A forecast in the words in which a user hears it.
#pragma once

#include <string>

#include "forecast/futures.h"
#include "trace/job.h"

namespace almanac::cli {

/// "starts between 13:05 and 14:20 (90 %), ends by 18:10 with 90 %; the deadline 16:00 is kept with
/// 35 %".
std::string in_words(const forecast::Forecast& forecast, const trace::Request& request);

}  // namespace almanac::cli
