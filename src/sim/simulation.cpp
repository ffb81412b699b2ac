// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include "sim/engine.h"

namespace almanac::sim {

bool is_simulated(const trace::Request& request, const cluster::Cluster& cluster) {
  return request.gpus > 0 || cluster.counts_cpus();
}

Schedule simulate(const trace::Trace& trace, const cluster::Cluster& cluster,
                  policy::Policy& policy, const Options& options) {
  return Engine(trace, cluster, policy, options).run();
}

}  // namespace almanac::sim
