// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait tries to share with any running job. The two separate if they
/// measurably do less work together than one alone. Pairs with good measurements come before
/// untried ones.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2, as read by Narayanan et al., OSDI'20: a
///          pair stays if the sum of its speeds relative to alone is 1 or more.
/// Differs  No time slices, and the pass does the moves (`defragment`). Does not choose the least
///          used host.
#include <memory>
#include <optional>
#include <utility>

#include "policy/kit/trial_pairs.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Gandiva final : public TrialPairs {
 public:
  using TrialPairs::TrialPairs;

 private:
  std::optional<double> merit(const Join& join) const override {
    const std::optional<Speeds> known = measured(join.hosts.front(), join.guest);
    if (!known) return 1;
    if (!may_stay(*known)) return std::nullopt;
    return known->sum();
  }
  bool may_stay(const Speeds& speeds) const override { return speeds.sum() >= 1; }
};

}  // namespace

void register_gandiva(Registry& registry) {
  registry.packings.add(
      {.name = "gandiva",
       .summary = "a waiting job is tried on the GPUs of a running one; pairs that run badly are "
                  "separated",
       .source = "Xiao et al. OSDI'18 (Gandiva) §3.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs},
                  .needs = {Trait::lets_join},
                  // A pass with several queues keeps books of what runs, and stops jobs itself.
                  .bars = {Trait::chooses_gpus, Trait::splits_queue}},
       .parameters = {number("trial_s", "time until a pair is measured", 60, 1, 1e9)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Gandiva>(desk, std::move(may_share), told.duration("trial_s"));
      });
}

}  // namespace almanac::policy::packing
