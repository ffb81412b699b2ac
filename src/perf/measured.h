// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measurements as a catalogue without a fit: each model is fed as its table says.
#pragma once

#include <string>

#include "base/result.h"
#include "perf/catalogue.h"
#include "perf/measurement.h"

namespace almanac::perf {

/// Takes what was measured of one GPU with known cores and memory; there are no boards, so that
/// number, spread and type of GPUs and neighbours change nothing but how much is fed. Fails with
/// invalid when there is none, or when a model's grid has holes.
Result<Catalogue> as_measured(const Profile& profile, const std::string& path);

}  // namespace almanac::perf
