// SPDX-License-Identifier: Apache-2.0

/// \file
/// First come, first served.
///
/// Source   Hu et al., SC'21, section 2.1: the production order of Helios.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Fifo final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
};

}  // namespace

void register_fifo(Registry& registry) {
  registry.orders.add({"fifo", "first come, first served", "Hu et al. SC'21 §2.1"},
                      [](const Parameters&) { return std::make_unique<Fifo>(); });
}

}  // namespace almanac::policy::order
