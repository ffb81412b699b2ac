// SPDX-License-Identifier: Apache-2.0

/// \file
/// A sample of the timeline of a simulation.
#pragma once

#include "cluster/ledger.h"
#include "schedule/round.h"
#include "sim/simulation.h"

namespace almanac::sim {

/// Fills everything that does not depend on speeds, so neither computing nor spared GPUs.
inline Sample sample_of(Time at, const schedule::Load& load, const cluster::Ledger& ledger) {
  using cluster::Power;
  return {.at = at,
          .gpus_total = ledger.total_gpus(),
          .gpus_busy = ledger.busy_gpus(),
          .gpus_waiting = load.gpus_waiting,
          .jobs_running = load.jobs_running,
          .jobs_waiting = load.jobs_waiting,
          .nodes_on = ledger.nodes(Power::on) + ledger.nodes(Power::booting),
          .nodes_asleep = ledger.nodes(Power::asleep),
          .gpus_on = ledger.gpus(Power::on),
          .gpus_booting = ledger.gpus(Power::booting),
          .gpus_asleep = ledger.gpus(Power::asleep),
          .cpus_total = static_cast<double>(ledger.total_cpu_milli()) / 1e3,
          .cpus_busy = static_cast<double>(ledger.busy_cpu_milli()) / 1e3};
}

}  // namespace almanac::sim
