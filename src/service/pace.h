// SPDX-License-Identifier: Apache-2.0

/// \file
/// The speed of a running job and its factors by the job's model, as a simulation of this moment
/// would have them (sim/pacer.h).
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
  std::string model{};  ///< Model of the catalogue that the job is assumed to train.
  double rate = 1;  ///< 1 is the speed with what it requested, on the fewest nodes, alone, without
                    ///< a limit.
  perf::Parts parts{};  ///< The rate is their product.
};

/// What a service knows about the speed and power of the GPUs of a cluster.
struct SpeedFacts {
  const cluster::Cluster& cluster;
  const perf::Catalogue& speeds;
  const energy::PowerModel* power = nullptr;  ///< Null if no power limit is known to slow jobs.
};

/// The model whose name is the name of a job or a part of it; "" if there is none, because such a
/// job may scale in any way.
std::string model_of(const store::Job& job, perf::SpeedModels& models);

/// The pace of a running job; `running` has it and the jobs that hold some of its GPUs. Nothing if
/// no model has its name, or it holds no GPU. Cost: a copy of the catalogue, some 100 us.
std::optional<Pace> pace_of(store::JobNumber number, std::span<const store::Job> running,
                            const SpeedFacts& facts);

/// Whether both jobs hold the same GPU.
bool share_a_gpu(const store::Job& a, const store::Job& b);

}  // namespace almanac::service
