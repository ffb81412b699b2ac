// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is known about a managed cluster and what was decided: the state that the parts of its
/// service share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manager/node.h"
#include "process/bell.h"
#include "service/service.h"
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

/// What a service has after opening.
struct Opened {
  Config config;
  store::Store store;
  manager::Site site;
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
  Config config;  ///< The policy and the shadow change, under the lock.
  store::Store store;
  manager::Site site;
  Time started = clock.wall();
  process::Bell bell{};  ///< Wakes the deciding thread.
  std::atomic<std::uint64_t> revision = 1;

  mutable std::mutex mutex{};  ///< Guards all below except `agents` and `past`.
  Mirror mirror{};
  std::uint64_t hardware = 0;  ///< Hardware revision of `world`.
  std::shared_ptr<const World> world = std::make_shared<const World>();
  std::unique_ptr<Decider> decider;
  std::unique_ptr<Agents> agents;  ///< Null if the service does not listen for agents.
  std::unique_ptr<Slimmer> slimmer;
  Driver driver;  ///< Its levers use agents and slimmer.
  Announced announced{};
  service::Counters counters{};
  bool look_again = true;            ///< A decision is due.
  std::vector<store::Job> taught{};  ///< Jobs that ended since forecasts last looked.
  Canary canary{config.settings.canary, config.settings.order.age_cap, store, config.seed};
  std::unique_ptr<Past> past{};  ///< Null if the manager keeps no accounting.

  /// What levers see now. Under the lock.
  Scene scene(manager::Abilities can) const {
    return {.settings = config.settings,
            .site = site,
            .can = can,
            .mirror = mirror,
            .decision = decider->last(),
            .policy = decider->policy()};
  }
};

}  // namespace almanac::steer
