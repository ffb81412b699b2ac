// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait joins a running one if both together are predicted to use at most
/// all of a GPU, each by the fraction of time in which it computes alone. Among several hosts,
/// takes the least used.
///
/// Source   Yeung et al., TPDS'21 (Horus): jobs share while the sum of their predicted utilizations
///          stays below a limit.
/// Differs  Predicts utilization from the job's speed model, not from the graph of its network. The
///          order is that of the composition; Horus also ranks queues by their jobs' utilization.
#include <memory>
#include <optional>
#include <utility>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Horus final : public Grouping {
 public:
  Horus(Desk& desk, MayShare may_share, double most_use)
      : Grouping(desk, std::move(may_share), 2), most_use_(most_use) {}

 private:
  std::optional<double> merit(const Join& join) const override {
    const Speeds& speeds = *desk_.view().speeds;
    double use = speeds.pace(join.guest, join.grants).computing;
    for (const JobId host : join.hosts) use += speeds.pace(host, desk_.grants(host)).computing;
    if (use > most_use_) return std::nullopt;
    return -use;
  }

  double most_use_;
};

}  // namespace

void register_horus(Registry& registry) {
  registry.packings.add(
      {.name = "horus",
       .summary = "a waiting job shares GPUs if the predicted utilization stays within the limit",
       .source = "Yeung et al. TPDS'21 (Horus)",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {number("most_use", "highest utilization of a GPU by both jobs together", 1,
                             1e-9, 2)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Horus>(desk, std::move(may_share), told.number("most_use"));
      });
}

}  // namespace almanac::policy::packing
