// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cores and memory that make a GPU job faster, as long as there are any, but never less than
/// its proportional share. A job that can do with less gives to the one that gains most.
///
/// Source   Mohan et al., OSDI'22 (Synergy), TUNE.
/// Differs  See kit/deal_out.h.
#include "policy/kit/deal_out.h"
#include "policy/registry.h"
#include "policy/size/chosen.h"

namespace almanac::policy::size {
namespace {

class Tune final : public ChosenSize {
 public:
  Tune() : ChosenSize(StartsWith::least) {}

  bool deals_out() const override { return true; }
  void deal_out(std::span<PackedJob> jobs, VcId vc, const View& view,
                cluster::Ledger& ledger) override {
    for (PackedJob& job : jobs) {
      job.choices = &choices_.of(job.job, view);
      job.wish = job.choices->best;
    }
    pack(jobs, vc, ledger);
  }
};

}  // namespace

void register_tune(Registry& registry) {
  registry.sizes.add(
      {"tune",
       "what speeds jobs up, as long as it lasts; never less than the proportional share",
       "Mohan et al. OSDI'22",
       {.has = {Trait::reads_speeds, Trait::moves_jobs, Trait::chooses_cores, Trait::deals_out},
        .needs = {Trait::leases},
        .bars = {Trait::chooses_gpus}}},
      [](const Parameters&) { return std::make_unique<Tune>(); });
}

}  // namespace almanac::policy::size
