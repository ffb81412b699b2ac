// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast a job runs with what it holds, and why: the factors of its model, as a simulation of
/// this moment would have them (sim/pacer.h).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cluster/cluster.h"
#include "energy/power.h"
#include "perf/catalogue.h"
#include "perf/speed_model.h"
#include "perf/speed_models.h"
#include "store/job.h"

namespace almanac::service {

struct Pace {
  std::string model{};  ///< Of the catalogue, that it is taken for.
  double rate = 1;      ///< 1 = with what it asked, on the fewest nodes, alone, without a limit.
  perf::Parts parts{};  ///< Whose product is the rate.
};

/// What `speeds` and `power` tell of the GPUs of a cluster, as a service has them.
struct SpeedFacts {
  const cluster::Cluster& cluster;
  const perf::Catalogue& speeds;
  const energy::PowerModel* power = nullptr;  ///< Null = no limit is known to slow anybody.
};

/// The model that has the name of a job, or whose name is in it; "" = none has: what runs under a
/// name that nobody knows may scale anyhow.
std::string model_of(const store::Job& job, perf::SpeedModels& models);

/// Of a job that runs; `running` are it and whoever holds some of its GPUs. Nothing where no model
/// has its name, or it holds no GPU. Cost: a copy of the catalogue, some 100 us.
std::optional<Pace> pace_of(store::JobNumber number, std::span<const store::Job> running,
                            const SpeedFacts& facts);

/// Whether the two hold a GPU in common.
bool share_a_gpu(const store::Job& a, const store::Job& b);

}  // namespace almanac::service
