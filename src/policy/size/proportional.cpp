// SPDX-License-Identifier: Apache-2.0

/// \file
/// The proportional share of cores and memory for each GPU (size/share.h), whatever the job
/// requests. CPU jobs get what they request.
///
/// Source   Mohan et al., OSDI'22 (Synergy), section 2: GPU-proportional allocation, the baseline.
#include "policy/registry.h"
#include "policy/size/share.h"

namespace almanac::policy::size {
namespace {

class Proportional final : public Size {
 public:
  cluster::Demand demand(JobId job, const cluster::Demand& asked, const View& view) override {
    cluster::Demand made = asked;
    if (asked.is_cpu_job()) return made;
    const cluster::Amount share = share_of_gpu(view.cluster, view.progress(job).vc);
    made.cpu_milli = share.cpu_milli;
    made.memory_mb = share.memory_mb;
    return made;
  }
};

}  // namespace

void register_proportional(Registry& registry) {
  registry.sizes.add({"proportional",
                      "proportional to the job's GPUs, whatever it requests",
                      "Mohan et al. OSDI'22 §2",
                      {.has = {Trait::chooses_cores}}},
                     [](const Parameters&) { return std::make_unique<Proportional>(); });
}

}  // namespace almanac::policy::size
