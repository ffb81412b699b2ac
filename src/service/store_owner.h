// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each store belongs to one engine: another one would take its jobs for its own, and end them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace almanac::service {

inline constexpr std::string_view kMachine = "machine";
inline constexpr std::string_view kSlurm = "slurm";
inline constexpr std::string_view kKubernetes = "kubernetes";

/// Binds the store of the folder `state` to `engine` at its first use. Fails with conflict if it
/// belongs to another one, and as the store does.
Result<void> own_store(store::Store& store, const std::string& state, std::string_view engine);

}  // namespace almanac::service
