// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait joins the jobs that have least work left. A job of more than
/// `kappa` GPUs first looks for as few nodes as possible, then for the least work.
///
/// With the order `gpu_time` and the throttle `ada_dual`, as in `qssf+scan+least_work+ada_dual`,
/// this is Ada-SRSF.
///
/// Source   Wang et al., Ada-SRSF, the placement LWF-kappa: jobs of up to kappa GPUs take the GPUs
///          with the least queued work, larger ones the nodes with the least.
/// Differs  A free GPU has no queued work, so a job joins others only if it finds no place, and
///          then those on as many GPUs as it requests. The jobs of a GPU slow each other as
///          measured (perf/beside.h); in the paper they run in the order of their remaining work.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class LeastWork final : public Grouping {
 public:
  LeastWork(Desk& desk, MayShare may_share, int most, int kappa)
      : Grouping(desk, std::move(may_share), most), kappa_(kappa) {}

 private:
  std::optional<double> merit(const Join& join) const override {
    double left_s = 0;
    for (const JobId host : join.hosts) {
      const Candidate state = desk_.candidate(host);
      // A job that outlives its estimate may end at any time.
      left_s += seconds(std::max(Duration{0}, state.believed - state.worked));
    }
    // Decades: more than the work of any group, so that nodes count first.
    constexpr double kNode = 1e10;
    const bool counts_nodes = desk_.demand(join.guest).gpus > kappa_;
    return -left_s - (counts_nodes ? kNode * static_cast<double>(join.grants.size()) : 0);
  }

  int kappa_;
};

}  // namespace

void register_least_work(Registry& registry) {
  registry.packings.add(
      {.name = "least_work",
       .summary = "waiting jobs join the jobs with the least work left, large ones on few nodes",
       .source = "Wang et al. (Ada-SRSF), LWF-kappa",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  // Estimates exist only if an order or a pass requests them.
                  .needs = {Trait::lets_join, Trait::reads_run_times},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {whole_number("most_jobs", "most jobs that share a GPU", 16, 2, 16),
                      whole_number("kappa",
                                   "largest job, in GPUs, for which few nodes do not "
                                   "matter",
                                   1, 0, 1'000'000)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<LeastWork>(desk, std::move(may_share), told.whole("most_jobs"),
                                           told.whole("kappa"));
      });
}

}  // namespace almanac::policy::packing
