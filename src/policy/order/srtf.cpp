// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest predicted remaining time first, at the recorded speed. The speed where a job runs now
/// is not used, because it would differ elsewhere.
///
/// Source   Hu et al., SC'21, section 4.2.3: the baseline SRTF.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Srtf final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return static_cast<double>((job.believed - job.worked).count());
  }
  double drift() const override { return 1; }
  Standing standing(const Candidate& job) const override {
    return {Term::run_time, rank(job) / 1e3};
  }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_srtf(Registry& registry) {
  registry.orders.add({"srtf",
                       "shortest predicted remaining time first",
                       "Hu et al. SC'21 §4.2.3",
                       {.has = {Trait::reads_run_times}}},
                      [](const Parameters&) { return std::make_unique<Srtf>(); });
}

}  // namespace almanac::policy::order
