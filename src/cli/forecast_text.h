// SPDX-License-Identifier: Apache-2.0

/// \file
/// A forecast in the words in which a user hears it.
#pragma once

#include <string>

#include "forecast/other_gpus.h"
#include "trace/job.h"

namespace almanac::cli {

/// "starts between 13:05 and 14:20 (90 %), ends by 18:10 with 90 %; the deadline 16:00 is kept with
/// 35 %".
std::string in_words(const forecast::Forecast& forecast, const trace::Request& request);
/// "with 2 GPUs: ends by 13:40 with 90 %; the deadline is kept with 80 %".
std::string in_words(const forecast::OtherGpus& other, const trace::Request& request);

}  // namespace almanac::cli
