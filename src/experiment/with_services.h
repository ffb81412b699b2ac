// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of an experiment with inference services on the same cluster.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"
#include "inference/service.h"
#include "sim/services.h"
#include "sim/simulation.h"

namespace almanac::experiment {

/// Simulates run number `run` with services next to the jobs. With simulated speeds, jobs run at
/// theirs and replicas at their own; Sample::gpus_computing then counts jobs alone. Fails as
/// make_policy() does, and with simulated speeds also with unsupported for a policy that lets jobs
/// share GPUs: how a replica and a job slow each other on one GPU is unknown.
Result<sim::Schedule> simulate_with(const Prepared& prepared, std::size_t run,
                                    sim::Services& services,
                                    const std::atomic<bool>* stop = nullptr);

/// Returns how many replicas of `service` the GPUs of its virtual cluster hold at a time, or those
/// of the whole cluster if it names none.
int fitting_replicas(const sim::ServiceCase& service, const cluster::Cluster& cluster);

/// Names the nodes that may hold replicas of `service`: "the cluster", "virtual cluster research".
std::string place_of_replicas(const sim::ServiceCase& service, const cluster::Cluster& cluster);

/// One policy: jobs alone, jobs next to one service, and what its requests saw.
struct WithService {
  Summary alone, with;
  sim::ServiceOutcome service;
  inference::Seen seen;
  /// GPU-hours that jobs could use while the service ran, and that a steady fleet of its most
  /// replicas, plus its own nodes, would have held. The replicas are at most as many as fit.
  double loaned_gpu_hours = 0;
  /// GPU-hours that jobs took more than alone: work done again, and restarts.
  double redone_gpu_hours = 0;
};

/// Simulates run number `run` alone and with `service`, whose most replicas are limited to those
/// that fit. What it returns once `stop` is true is of interrupted simulations. Fails as
/// simulate_with() and sim::Services::make() do, and with unavailable if the fewest replicas, or a
/// single one, do not fit.
Result<WithService> compare_with_service(const Prepared& prepared, std::size_t run,
                                         const sim::ServiceCase& service,
                                         const std::atomic<bool>& stop);

}  // namespace almanac::experiment
