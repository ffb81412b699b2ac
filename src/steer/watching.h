// SPDX-License-Identifier: Apache-2.0

/// \file
/// What looks on from threads of its own beside a Slurm service: the shadow and the forecasts, and
/// the cluster that both play on.
#pragma once

#include <memory>
#include <utility>

#include "base/wall_clock.h"
#include "service/foresight.h"
#include "service/policies.h"
#include "service/shadow.h"
#include "steer/record.h"
#include "steer/slurm_service.h"

namespace almanac::steer {

struct SlurmService::Watching {
  std::shared_ptr<const World> world;
  service::Shadow shadow;
  service::Foresight foresight;

  Watching(SlurmService& service, std::shared_ptr<const World> of)
      : world(std::move(of)),
        shadow(
            [&service, of = world.get()] { return past_of(service.store_, *of, service.limits()); },
            world->of_the_past, service.config_.seed),
        foresight(
            world->cluster, nullptr,
            [&service] {
              return service.store_.log(wall_clock() - service::kLesson, service::kLessons);
            },
            kFutures, service.config_.seed,
            [&service, of = world.get()] { return service.outlook(*of); },
            [&service] { return service.revision(); }, [](const auto&) {}) {}

 private:
  static constexpr int kFutures = 32;
};

}  // namespace almanac::steer
