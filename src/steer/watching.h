// SPDX-License-Identifier: Apache-2.0

/// \file
/// The shadow of a Slurm service, and the cluster that it plays on.
#pragma once

#include <memory>

#include "live/shadow.h"
#include "steer/slurm_service.h"

namespace almanac::steer {

struct SlurmService::Watching {
  std::shared_ptr<const World> world;
  live::Shadow shadow;

  Watching(const store::Store& store, std::shared_ptr<const World> of, std::uint64_t seed)
      : world(std::move(of)), shadow(store, world->cluster, seed) {}
};

}  // namespace almanac::steer
