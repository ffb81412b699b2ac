// SPDX-License-Identifier: Apache-2.0

/// \file
/// What gpulet plans with: profiles of models and settings, from a folder of the public data.
#pragma once

#include <map>
#include <string>

#include "deployment/planner/gpulet/scheduler.h"
#include "reproduce/bench.h"

namespace almanac::reproduce {

/// Reads `configs` and, beside it, models.csv, batch_concat_ms.csv, interference_constants.csv,
/// util_DEVICE.csv and `latencies`. Throws Malformed.
deployment::gpulet::GpuletProfile read_gpulet(const Bench& bench, const File& configs,
                                              const File& latencies);

/// Reads the settings by name. Throws Malformed.
std::map<std::string, deployment::gpulet::GpuletSetting> read_gpulet_settings(const File& configs);

}  // namespace almanac::reproduce
