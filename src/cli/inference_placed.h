// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests of several models on the GPUs of a plan, and what each model's saw.
#pragma once

#include <string>

#include "cli/inference_options.h"

namespace almanac::cli {

/// Plays the case, which has a plan, and prints a row for each model and one for all of them, as
/// `format`: a table, JSON or CSV. `gpu_hour` is the price of a GPU for an hour. Fails as
/// inference::play_placed() does.
Result<int> simulate_placed(const InferenceCase& told, double gpu_hour, const std::string& format);

}  // namespace almanac::cli
