// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts in words.
#pragma once

#include <string>

#include "forecast/other_gpus.h"
#include "trace/job.h"

namespace almanac::cli {

/// "starts between 13:05 and 14:20 (90 % likely) and ends by 18:10 (95 %); meets its deadline 16:00
/// with 35 % probability".
std::string in_words(const forecast::Forecast& forecast, const trace::Request& request);
/// "with 2 GPUs: ends by 13:40 (90 % likely); meets its deadline with 80 % probability".
std::string in_words(const forecast::OtherGpus& other, const trace::Request& request);

}  // namespace almanac::cli
