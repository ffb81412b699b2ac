// SPDX-License-Identifier: Apache-2.0

/// \file
/// One decision of the policy about a managed cluster: what should run now, and in which order the
/// other jobs wait. `Decider` (decider.h) makes it, levers (lever.h) carry it out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "steer/aside.h"
#include "steer/world.h"

namespace almanac::steer {

struct Decision {
  /// The waiting jobs of one virtual cluster, each record once: first those that would start now,
  /// then the others in the order in which the policy looks at them.
  struct Line {
    VcId vc{};
    std::vector<manager::JobNumber> jobs{};
    /// `jobs`, and between them the jobs that the policy does not see because they are at a limit
    /// that ends when other jobs do.
    std::vector<manager::JobNumber> ranked{};
  };
  struct Start {
    manager::JobNumber job{};
    std::vector<cluster::Grant> held{};
  };
  /// Running jobs on one GPU, at least one of which is slower than the policy allows.
  struct Clash {
    std::string node{};
    int gpu = 0;
    std::vector<manager::JobNumber> jobs{};  ///< In order of arrival.
    double speed = 0;  ///< Of the slowest job, as a fraction of its speed alone; NaN if one of them
                       ///< asked for a whole GPU.
  };

  Time at = kNoTime;                     ///< By the controller's clock.
  std::shared_ptr<const World> world{};  ///< Gives the nodes below their numbers.
  std::vector<Line> lines{};             ///< By virtual cluster, all of them.
  std::vector<Start> starts{};           ///< In order; an array may appear several times.
  /// Since when each of `starts` was to start at every decision. Jobs that the policy does not see
  /// because the manager did not start them keep their time.
  std::map<manager::JobNumber, Time> to_start_since{};
  std::vector<manager::JobNumber> stops{};      ///< Running jobs that must make room.
  std::vector<manager::Job> announced{};        ///< Waiting jobs that the mirror does not know yet.
  std::vector<Clash> clashes{};                 ///< Under a policy that lets jobs share GPUs.
  bool knows_speeds = false;                    ///< Whether it is known how jobs slow each other.
  std::map<manager::JobNumber, Aside> aside{};  ///< Waiting jobs that the policy does not see.
  std::map<manager::JobNumber, std::string> quotas{};    ///< The quota of each job that is
                                                         ///< `at_quota`.
  std::map<manager::JobNumber, policy::Reason> never{};  ///< Jobs that can never start here.
  Time wake = kNever;  ///< When to decide again if nothing happens.

  /// A job of one of the lines, from the mirror or as announced; null if it is gone.
  const manager::Job* find(manager::JobNumber job, const Mirror& mirror) const;
};

}  // namespace almanac::steer
