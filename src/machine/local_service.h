// SPDX-License-Identifier: Apache-2.0

/// \file
/// The live service of one machine: takes jobs, decides by a policy of the registry, runs them as
/// processes, and keeps on disk what it has said.
///
/// The deciding thread alone touches the round, the policy and the processes, and writes the store.
/// What changes something returns when it is on the disk; unavailable = the disk is full or gone.
///
/// After a crash, or kill -9, the next service on the same state folder takes over: jobs that run
/// are adopted where they are, jobs that wait keep their order, none runs twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "energy/power.h"
#include "machine/hooks.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "perf/catalogue.h"
#include "perf/steady_use.h"
#include "policy/kit/age_cap.h"
#include "service/idle.h"
#include "service/service.h"

namespace almanac::machine {

/// By which a machine decides whose owner says nothing: least expected GPU time first, gaps filled
/// by jobs that delay no one, and jobs that leave their GPUs open on more than they ask where there
/// is room.
inline constexpr const char* kDefaultPolicy = "qssf+easy+half_room";

struct Config {
  std::string state;                    ///< The folder of all that is kept.
  Machine machine;                      ///< What there is to give away.
  std::string policy = kDefaultPolicy;  ///< As Registry::compose() takes it; the store's own, if
                                        ///< it has one, unless `policy_is_told`.
  bool policy_is_told = false;
  std::string shadow{};  ///< Another that is compared with it; "" = none.
  std::uint64_t seed = 0;
  Duration retention = 24h * 365;  ///< Jobs that ended earlier are forgotten.
  int futures = 32;                ///< Played for a forecast; 0 = none is made.
  /// So many jobs that have ended are kept in memory before the policy is begun anew without them.
  std::size_t most_ended = 20'000;
  /// How jobs scale, for forecasts with other numbers of GPUs; null = it is not known.
  std::shared_ptr<const perf::Catalogue> speeds{};
  perf::Measuring measuring{};
  std::optional<energy::PowerModel> power{};  ///< What is drawn where no driver tells.
  /// Files that a job may have open unless it asks for more; nothing = as the service.
  std::optional<std::uint64_t> open_files{};
  /// The longest that a job may take between SIGTERM and SIGKILL.
  Duration max_grace = 15min;
  Limits limits{};
  service::IdleRule idle{};
  std::vector<Hook> hooks{};
  /// A job that has ended is run again, and so has its environment kept, for so long.
  Duration requeue_for = 24h;
  /// A job that has waited for so long goes before all others (policy::AgeCap); kNoDuration = there
  /// is no such bound.
  Duration age_cap = policy::kAgeCap;
  /// Before the first retry of a job that failed; twice as long before each next, an hour at most.
  Duration retry_pause = 10s;
  /// How long after the grace a job must have ended, before it is killed past its shepherd.
  Duration patience = 10s;
};

/// Opens the store and takes over what is there. Fails with conflict when another service has it.
Result<std::unique_ptr<service::Service>> open_local_service(Config config);

}  // namespace almanac::machine
