// SPDX-License-Identifier: Apache-2.0

/// \file
/// The live service of one machine: accepts jobs, schedules them by a policy of the registry, runs
/// them as processes, and keeps its state on disk.
///
/// Only the deciding thread touches the round, the policy and the processes, and writes the store.
/// A call that changes something returns once the change is on disk; it fails with `unavailable` if
/// the disk is full or gone.
///
/// After a crash or kill -9, the next service on the same state folder takes over: running jobs are
/// adopted, waiting jobs keep their order, and no job runs twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "energy/power.h"
#include "machine/hooks.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "perf/catalogue.h"
#include "perf/steady_use.h"
#include "policy/kit/age_cap.h"
#include "policy/recommended.h"
#include "service/idle.h"
#include "service/service.h"

namespace almanac::machine {

/// The recommended policy, and jobs that accept several numbers of GPUs get more than the least.
inline constexpr const char* kDefaultPolicy = "almanac+half_room";
/// The same, and a job runs on as few boxes as possible, because each has a task of it: one that
/// can run on one box never becomes several tasks.
inline constexpr const char* kDefaultPolicyOfBoxes = "almanac+half_room+consolidate";

struct Config {
  std::string state;  ///< The folder of all state.
  Machine machine;    ///< The resources to allocate.
  /// See Registry::compose(). The policy in the store, if any, is used instead unless
  /// `policy_is_told`.
  std::string policy = kDefaultPolicy;
  bool policy_is_told = false;
  std::string shadow{};  ///< Policy to compare with; "" for none.
  std::uint64_t seed = 0;
  Duration retention = 24h * 365;  ///< Age at which ended jobs are deleted.
  int futures = 32;                ///< Simulations per forecast; 0 for no forecasts.
  /// Ended jobs to keep in memory before the policy restarts without them.
  std::size_t most_ended = 20'000;
  /// How jobs scale, for forecasts with other numbers of GPUs; null if unknown.
  std::shared_ptr<const perf::Catalogue> speeds{};
  perf::Measuring measuring{};
  std::optional<energy::PowerModel> power{};  ///< Power model for GPUs without a driver that
                                              ///< reports it.
  /// Default limit of open files per job; nothing for the service's own.
  std::optional<std::uint64_t> open_files{};
  /// The longest allowed time between SIGTERM and SIGKILL.
  Duration max_grace = 15min;
  Limits limits{};
  service::IdleRule idle{};
  std::vector<Hook> hooks{};
  /// How long an ended job, with its environment, can be requeued.
  Duration requeue_for = 24h;
  /// Waiting time after which a job goes before all others (policy::AgeCap); kNoDuration for no
  /// cap.
  Duration age_cap = policy::kAgeCap;
  /// Pause before the first retry of a failed job; doubles for each further retry, at most an hour.
  Duration retry_pause = 10s;
  /// Time after the grace period at which a job that still runs is killed directly.
  Duration patience = 10s;
  /// Returns the boxes that take no new runs (boxes::Head), called from any thread; empty if jobs
  /// run here.
  std::function<std::set<std::string>()> silent_boxes{};
  /// Returns the boxes that an operator has declared gone, which are not shown; as silent_boxes.
  std::function<std::set<std::string>()> gone_boxes{};
};

/// Opens the store and takes over what it contains. Fails with `conflict` if another service uses
/// it.
Result<std::unique_ptr<service::Service>> open_local_service(Config config);

}  // namespace almanac::machine
