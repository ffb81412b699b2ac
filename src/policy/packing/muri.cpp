// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that would have to wait join others in groups of up to `most_jobs` if a group does more
/// work with its guest than without. Among several groups, takes the one that is then most
/// efficient: the mean speed of its jobs, relative to alone.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri): groups of up to four by interleaving efficiency, only
///          if GPUs are short, and none that is slower than its jobs one after another.
/// Differs  If speed models have no stages of a step (perf/beside.h), the efficiency is that of
///          measured sharing. Jobs join one after another. Running groups are not matched again, as
///          `muri_l` and `muri_s` do (whole/muri.cpp), so no job moves.
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Muri final : public Grouping {
 public:
  using Grouping::Grouping;

 private:
  std::optional<double> merit(const Join& join) const override {
    const double after = sum(relative_speeds(join));
    const Join before{.hosts = join.hosts.first(join.hosts.size() - 1),
                      .guest = join.hosts.back(),
                      .grants = desk_.grants(join.hosts.back())};
    if (after <= sum(relative_speeds(before))) return std::nullopt;
    return after / static_cast<double>(join.hosts.size() + 1);
  }

  static double sum(const std::vector<double>& speeds) {
    return std::accumulate(speeds.begin(), speeds.end(), 0.0);
  }
};

}  // namespace

void register_muri(Registry& registry) {
  registry.packings.add(
      {.name = "muri",
       .summary = "waiting jobs join groups that interleave their stages and so do more work",
       .source = "Zhao et al. SIGCOMM'22 (Muri)",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {whole_number("most_jobs", "most jobs that share a GPU", 4, 2, 16)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Muri>(desk, std::move(may_share), told.whole("most_jobs"));
      });
}

}  // namespace almanac::policy::packing
