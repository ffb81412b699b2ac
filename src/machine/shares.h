// SPDX-License-Identifier: Apache-2.0

/// \file
/// Processors and memory that jobs hold in addition to their GPUs.
#pragma once

#include <string>
#include <vector>

#include "cluster/ledger.h"
#include "machine/queue.h"
#include "machine/state.h"

namespace almanac::machine {

/// Over all nodes.
struct Share {
  double cpus = 0;
  double memory_gb = 0;
};

Share share_of(const std::vector<cluster::Grant>& held);

/// Returns "4 cores to 2"; "" if nothing changed.
std::string change_text(const Share& before, const Share& after);

/// Chooses the processors of the jobs that the round has started or resized (Deeds::pin).
void pin_jobs(State& state, const Queue& queue);

}  // namespace almanac::machine
