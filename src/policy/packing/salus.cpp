// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets a job that would have to wait join others on a GPU whose memory holds all of them, whatever
/// that does to their speeds; of several groups the first that came.
///
/// Source   Yu and Chowdhury, MLSys'20 (Salus), its policy PACK: as many jobs on a GPU as its
/// memory
///          has lanes for. FAIR and SRTF are orders of the composition.
/// Differs  A job says what memory it needs, and not what of that it needs in an iteration only: so
///          each is a lane of its own, and none takes turns in the lane of another. Salus switches
///          between iterations at no cost; here jobs slow each other as measured (perf/beside.h).
///          Where a job or the GPU does not say its memory, none share.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Salus final : public Grouping {
 public:
  using Grouping::Grouping;

 private:
  // That all of them fit, the frame sees to.
  std::optional<double> merit(const Join& join) const override {
    const auto says = [&](JobId job) {
      return !std::isnan(desk_.view().request(job).gpu_memory_gb);
    };
    const bool is_known =
        says(join.guest) && std::all_of(join.hosts.begin(), join.hosts.end(), says) &&
        std::all_of(join.grants.begin(), join.grants.end(), [&](const cluster::Grant& grant) {
          return desk_.ledger().pool(grant.node).gpu_memory_mb < cluster::kUnbounded;
        });
    return is_known ? std::optional(0.0) : std::nullopt;
  }
};

}  // namespace

void register_salus(Registry& registry) {
  registry.packings.add(
      {.name = "salus",
       .summary = "waiting jobs share a GPU if they all fit into its memory",
       .source = "Yu, Chowdhury MLSys'20 (Salus)",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {whole_number("most_jobs", "most jobs that share a GPU", 16, 2, 16)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Salus>(desk, std::move(may_share), told.whole("most_jobs"));
      });
}

}  // namespace almanac::policy::packing
