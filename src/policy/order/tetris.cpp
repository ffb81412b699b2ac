// SPDX-License-Identifier: Apache-2.0

/// \file
/// Smallest remaining work first: predicted remaining time times the sum of the job's fractions of
/// the GPUs, cores and memory of its virtual cluster, as much as it could use.
///
/// Source   Mohan et al., OSDI'22 (Synergy), TETRIS; after Grandl et al., SIGCOMM'14.
/// Differs  From Grandl et al.: no packing by alignment; the size does that.
#include <algorithm>

#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Tetris final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return std::max(0.0, seconds(job.believed - job.worked)) * job.sum_of_shares;
  }
  double tie(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
  bool needs_estimate() const override { return true; }
  bool needs_shares() const override { return true; }
};

}  // namespace

void register_tetris(Registry& registry) {
  registry.orders.add(
      {"tetris",
       "smallest predicted remaining time times share of GPUs, cores and memory first",
       "Mohan et al. OSDI'22; Grandl et al. SIGCOMM'14",
       {.has = {Trait::reads_run_times}}},
      [](const Parameters&) { return std::make_unique<Tetris>(); });
}

}  // namespace almanac::policy::order
