// SPDX-License-Identifier: Apache-2.0

/// \file
/// The parts of the service of a Slurm cluster, each of which owns its fields.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "service/lock.h"
#include "service/loop.h"
#include "service/notify.h"
#include "steer/steered_cluster.h"
#include "steer_slurm/ranking.h"
#include "steer_slurm/slurm_service.h"

namespace almanac::steer_slurm {

/// In order of construction: each part knows only the parts before it, and the threads of later
/// parts use earlier ones.
struct SlurmService::Parts {
  std::vector<service::Lock> locks;
  steer::Known known;
  service::Watchdog watchdog{};
  steer::Controller controller;
  steer::Saving saving{known};
  steer::Intake intake{known, saving};
  steer::Steering steering;
  steer::Watching watching{known, steering};
  steer::Views views{known, controller, saving, steering, watching};
  steer::Succession succession{known};
  steer::Changes changes{known, controller, saving, succession, watching};
  steer::SteeredCluster cluster{{.known = known,
                                 .controller = controller,
                                 .saving = saving,
                                 .intake = intake,
                                 .steering = steering,
                                 .watching = watching,
                                 .views = views,
                                 .succession = succession,
                                 .changes = changes}};
  service::Loop loop{cluster, known.bell, watchdog};
  Ranking ranking{known, controller, steering};

  Parts(steer::Opened opened, std::vector<service::Lock> held, std::unique_ptr<manager::Link> link,
        steer::Switches switches)
      : locks(std::move(held)),
        known(std::move(opened)),
        controller(known, std::move(link), watchdog),
        steering(known, controller, intake, std::move(switches)) {}
};

}  // namespace almanac::steer_slurm
