// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait joins a running one if both are predicted to keep `least_rate` of
/// their speed. The pair is measured, and separates if one job is slower. Measurements of equal
/// pairs count before predictions.
///
/// Source   Our own: `harmless` with Gandiva's trial (Xiao et al., OSDI'18, section 3.2).
/// Differs  From `harmless` only if predictions are wrong: a job may then be slower than
///          `least_rate` for one trial per new pair of models and batches.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "policy/kit/trial_pairs.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Guarded final : public TrialPairs {
 public:
  Guarded(Desk& desk, MayShare may_share, double least_rate, Duration trial)
      : TrialPairs(desk, std::move(may_share), trial), least_rate_(least_rate) {}

 private:
  std::optional<double> merit(const Join& join) const override {
    const Speeds speeds = believed(join);
    if (!may_stay(speeds)) return std::nullopt;
    return speeds.sum();
  }
  bool may_stay(const Speeds& speeds) const override {
    constexpr double kRounding = 1e-3;  // work is in whole milliseconds
    return speeds.least() >= least_rate_ - kRounding;
  }
  bool is_informed() const override {
    return desk_.view().speeds != nullptr && TrialPairs::is_informed();
  }

  double least_rate_;
};

}  // namespace

void register_guarded(Registry& registry) {
  registry.packings.add(
      {.name = "guarded",
       .summary = "like harmless, but separates a pair when one of them measures slower",
       .source = "own; Xiao et al. OSDI'18 (Gandiva) §3.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs},
                  .needs = {Trait::lets_join},
                  // A pass with several queues keeps books of what runs, and stops jobs itself.
                  .bars = {Trait::chooses_gpus, Trait::splits_queue}},
       .parameters = {number("least_rate", "fraction of its solo speed that each job must keep",
                             0.85, 1e-9, 1),
                      number("trial_s", "time until a pair is measured", 60, 1, 1e9)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Guarded>(desk, std::move(may_share), told.number("least_rate"),
                                         told.duration("trial_s"));
      });
}

}  // namespace almanac::policy::packing
