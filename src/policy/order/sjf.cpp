// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest predicted run time first, in the job's chosen shape.
///
/// Source   Hu et al., SC'21, section 4.2.3: the baseline SJF, which knows true run times.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Sjf final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return static_cast<double>(job.expected.count());
  }
  Standing standing(const Candidate& job) const override {
    return {Term::run_time, rank(job) / 1e3};
  }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_sjf(Registry& registry) {
  registry.orders.add({"sjf",
                       "shortest predicted run time first",
                       "Hu et al. SC'21 §4.2.3",
                       {.has = {Trait::reads_run_times}}},
                      [](const Parameters&) { return std::make_unique<Sjf>(); });
}

}  // namespace almanac::policy::order
