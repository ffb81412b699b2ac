// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait joins others on a GPU whose memory holds all of them, whatever the
/// effect on their speeds. Among several groups, takes the first that came.
///
/// Source   Yu and Chowdhury, MLSys'20 (Salus), its policy PACK: as many jobs on a GPU as its
///          memory has lanes for. FAIR and SRTF are orders of the composition.
/// Differs  A job states the memory it needs, but not how much of it only during an iteration, so
///          each has a lane of its own and no two take turns in one. Salus switches between
///          iterations at no cost; here jobs slow each other as measured (perf/beside.h). If the
///          memory of a job or a GPU is unknown, there is no sharing.
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
  // The base class checks that all of them fit.
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
