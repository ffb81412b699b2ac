// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is known of a Slurm cluster, and what was decided on it: what the parts of its service
/// share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/time.h"
#include "process/bell.h"
#include "service/service.h"
#include "slurm/node.h"
#include "steer/agents.h"
#include "steer/announced.h"
#include "steer/canary.h"
#include "steer/config.h"
#include "steer/decider.h"
#include "steer/driver.h"
#include "steer/mirror.h"
#include "steer/past.h"
#include "steer/slimmer.h"
#include "steer/world.h"
#include "store/store.h"

namespace almanac::steer {

/// What a service has once it is open.
struct Opened {
  Config config;
  store::Store store;
  slurm::Site site;
  std::unique_ptr<Decider> decider;
  std::unique_ptr<Agents> agents;
  std::unique_ptr<Slimmer> slimmer;
  Driver driver;
};

struct Known {
  explicit Known(Opened opened)
      : clock(*opened.config.clock),
        config(std::move(opened.config)),
        store(std::move(opened.store)),
        site(std::move(opened.site)),
        decider(std::move(opened.decider)),
        agents(std::move(opened.agents)),
        slimmer(std::move(opened.slimmer)),
        driver(std::move(opened.driver)) {}

  const service::Clock& clock;
  Config config;  ///< Its policy and its shadow change, under the lock.
  store::Store store;
  slurm::Site site;
  Time started = clock.wall();
  process::Bell bell{};  ///< Wakes the thread that decides.
  std::atomic<std::uint64_t> revision = 1;

  mutable std::mutex mutex{};  ///< Guards all below, but for `agents` and `past`.
  Mirror mirror{};
  std::uint64_t hardware = 0;  ///< That `world` is of.
  std::shared_ptr<const World> world = std::make_shared<const World>();
  std::unique_ptr<Decider> decider;
  std::unique_ptr<Agents> agents;  ///< Null = none are listened for.
  std::unique_ptr<Slimmer> slimmer;
  Driver driver;  ///< Its levers know agents and slimmer.
  Announced announced{};
  service::Counters counters{};
  bool look_again = true;            ///< A decision is due.
  std::vector<store::Job> taught{};  ///< Ended since forecasts last looked.
  Canary canary{config.settings.canary, config.settings.order.age_cap, store, config.seed};
  std::unique_ptr<Past> past{};  ///< Null = no accounting is kept.

  /// What levers look at now. Under the lock.
  Scene scene(slurm::Abilities can) const {
    return {.settings = config.settings,
            .site = site,
            .can = can,
            .mirror = mirror,
            .decision = decider->last(),
            .policy = decider->policy()};
  }
};

}  // namespace almanac::steer
