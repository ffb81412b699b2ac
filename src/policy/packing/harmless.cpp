// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait shares the GPUs of a running job if that harms neither.
///
/// Both must be predicted to keep at least `harmless_rate` of their solo speed with their cores and
/// memory. Among several hosts, takes the one where both together lose least. A pair stays until
/// one of the two ends or stops. Three jobs never share.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), which measured pairs of jobs on a GPU and let a
///          policy choose among them; 0.9 is our own.
/// Differs  Gavel runs pairs in rounds. Here a guest only avoids waiting, and no job moves.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Harmless final : public Grouping {
 public:
  Harmless(Desk& desk, MayShare may_share, double harmless_rate)
      : Grouping(desk, std::move(may_share), 2), harmless_rate_(harmless_rate) {}

 private:
  std::optional<double> merit(const Join& join) const override {
    const std::vector<double> speeds = relative_speeds(join);
    if (*std::min_element(speeds.begin(), speeds.end()) < harmless_rate_) return std::nullopt;
    return std::accumulate(speeds.begin(), speeds.end(), 0.0);
  }

  double harmless_rate_;
};

}  // namespace

void register_harmless(Registry& registry) {
  registry.packings.add(
      {.name = "harmless",
       .summary =
           "a waiting job shares the GPUs of a running one if both keep nearly all their speed",
       .source = "Narayanan et al. OSDI'20 (Gavel)",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {number("harmless_rate", "fraction of its solo speed that each job must keep",
                             0.9, 1e-9, 1)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Harmless>(desk, std::move(may_share), told.number("harmless_rate"));
      });
}

}  // namespace almanac::policy::packing
