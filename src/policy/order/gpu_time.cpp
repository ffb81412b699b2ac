// SPDX-License-Identifier: Apache-2.0

/// \file
/// Smallest predicted GPU time first.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1: priority = N x P.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class GpuTime final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return static_cast<double>(job.request.gpus) * static_cast<double>(job.believed.count());
  }
  Standing standing(const Candidate& job) const override {
    return {Term::gpu_time, rank(job) / 1e3};
  }
  // The artifact sorts by GPUs first and then, stably, by priority.
  double tie(const Candidate& job) const override { return job.request.gpus; }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_gpu_time(Registry& registry) {
  registry.orders.add({"gpu_time",
                       "smallest predicted GPU time first",
                       "Hu et al. SC'21 §4.2",
                       {.has = {Trait::reads_run_times}}},
                      [](const Parameters&) { return std::make_unique<GpuTime>(); });
}

}  // namespace almanac::policy::order
