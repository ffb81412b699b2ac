// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power of this machine where no driver reports it, and the power limits of its GPUs.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "energy/power.h"
#include "machine/machine.h"

namespace almanac::machine {

/// Returns the power by `model`, in watts: all nodes on, and `held` GPUs at full use within the
/// power limits of their nodes.
double modelled_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                  const std::vector<cluster::Grant>& held);

/// Returns the power of one GPU at full use: what it adds, plus its share of its node's idle power.
double modelled_gpu_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                      NodeId node);

/// Sets the gpu_power_limit_w of each node in the driver, where it also stays when the service has
/// ended. If the driver refuses, a note of the machine gives the reason.
void limit_gpus(Machine& machine);

}  // namespace almanac::machine
