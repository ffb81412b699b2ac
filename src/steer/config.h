// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the service of a Slurm cluster is configured with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "perf/catalogue.h"
#include "service/clock.h"
#include "slurm/link.h"
#include "steer/settings.h"

namespace almanac::steer {

struct Config {
  std::string state;            ///< The folder of all that is kept.
  std::string policy = "qssf";  ///< The store's own, if it has one, unless `policy_is_told`.
  bool policy_is_told = false;
  std::string shadow{};
  Settings settings{};
  std::string agents{};  ///< "HOST:PORT" at which agents of nodes are listened for; "" = none.
  std::string agent_secret{};  ///< Path of what they know us by.
  /// How jobs slow each other on a GPU; null = that is not known, and none are brought together.
  std::shared_ptr<const perf::Catalogue> speeds{};
  std::uint64_t seed = 0;
  /// Another way to the same Slurm, for its accounting, which is not read without.
  std::function<Result<std::unique_ptr<slurm::Link>>()> connect{};
  Duration retention = 24h * 365;  ///< Jobs that ended earlier are forgotten.
  /// A controller that has not answered for so long is said to be silent, though it may answer yet:
  /// Slurm's commands try for 40 s where it is gone.
  Duration silence = 15s;
  /// The policy learns of so many jobs that ended before it is begun anew without them.
  std::size_t most_ended = 20'000;
  const service::Clock* clock = &service::machine_clock();  ///< Must outlive the service.
};

}  // namespace almanac::steer
