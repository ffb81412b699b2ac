// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates requests of several models on the GPUs of a plan.
#pragma once

#include <string>

#include "cli/inference_options.h"

namespace almanac::cli {

/// Simulates a case with a plan, and prints a row for each model and one for all of them.
/// `gpu_hour` is the price of a GPU for an hour. Fails as
/// inference::play_placed() does. `valid_for`: what the plan was sized for; "" = it was not sized.
Result<int> simulate_placed(const InferenceCase& told, double gpu_hour, const ListOptions& list,
                            const std::string& valid_for = "");

}  // namespace almanac::cli
