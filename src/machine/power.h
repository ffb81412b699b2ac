// SPDX-License-Identifier: Apache-2.0

/// \file
/// What this machine draws where no driver tells, and what its GPUs may draw.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "energy/power.h"
#include "machine/machine.h"

namespace almanac::machine {

/// By `model`, in watts: all nodes on, and GPUs that are `held` at full use, as far as their node's
/// limit lets them.
double modelled_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                  const std::vector<cluster::Grant>& held);

/// The same of one GPU at full use: what it adds, and its share of its node's idle draw.
double modelled_gpu_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                      NodeId node);

/// Has the driver hold GPUs to the gpu_power_limit_w of their node, also when the service has ended
/// and nobody uses them. Where it does not, a note of the machine says why.
void limit_gpus(Machine& machine);

}  // namespace almanac::machine
