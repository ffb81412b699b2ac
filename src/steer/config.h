// SPDX-License-Identifier: Apache-2.0

/// \file
/// Configuration of the service of a managed cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "manager/link.h"
#include "perf/catalogue.h"
#include "policy/recommended.h"
#include "service/clock.h"
#include "steer/settings.h"

namespace almanac::steer {

struct Config {
  std::string state;  ///< State folder.
  /// The policy in the store, if any, is used instead unless `policy_is_told`.
  std::string policy = policy::kRecommended;
  bool policy_is_told = false;
  std::string shadow{};
  Settings settings{};
  std::string agents{};        ///< "HOST:PORT" to listen for node agents; "" for no agents.
  std::string agent_secret{};  ///< Path of the secret shared with agents.
  /// How jobs slow each other on a GPU; if null, no jobs are placed together.
  std::shared_ptr<const perf::Catalogue> speeds{};
  std::uint64_t seed = 0;
  /// Opens another connection to the same manager, for accounting; if empty, accounting is not
  /// read.
  std::function<Result<std::unique_ptr<manager::Link>>()> connect{};
  Duration retention = 24h * 365;  ///< How long ended jobs are kept.
  /// A controller that has not answered for this time is reported as silent. It may still answer:
  /// Slurm's commands try for 40 s.
  Duration silence = 15s;
  /// After learning from this many ended jobs, the policy is made again without the old ones.
  std::size_t most_ended = 20'000;
  const service::Clock* clock = &service::machine_clock();  ///< Must outlive the service.
};

}  // namespace almanac::steer
