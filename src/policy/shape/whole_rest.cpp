// SPDX-License-Identifier: Apache-2.0

/// \file
/// An elastic job uses up what is free of one node when it arrives, so that fewer nodes have a few
/// GPUs left that no larger job can use. Of the nodes with room for what it requests, it takes the
/// one on which it leaves fewest GPUs free; among such nodes of a type, the fullest, which keeps
/// whole nodes for jobs that need them. A job that has to wait starts on what it requests.
///
/// Where speeds are known, a job takes of these GPUs the number on which it is fastest.
///
/// Source   Our own: FGD's concern (Weng et al., ATC'23), met by the sizes of elastic jobs.
/// Cost     O(kinds of nodes x GPUs of a node) per arrival
#include <algorithm>

#include "policy/kit/arrival_shape.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class WholeRest final : public ArrivalShape {
  Shaped on_arrival(JobId job, const cluster::Demand& asked, const View& view,
                    const cluster::Ledger& ledger) override {
    Shaped made = fastest(job, asked.gpus, asked.gpus, view);
    int fewest_left = cluster::kMaxGpusPerNode + 1;
    for (const cluster::Pool& pool : ledger.pools(view.progress(job).vc)) {
      if (!pool.suits(asked)) continue;
      for (int free = pool.tightest(asked.gpus); free > 0; free = pool.tightest(free + 1)) {
        const int most = std::min(free, view.request(job).max_gpus);
        const Shaped here = fastest(job, asked.gpus, most, view);
        if (free - here.gpus >= fewest_left) continue;
        fewest_left = free - here.gpus;
        made = here;
      }
    }
    return made;
  }
};

}  // namespace

void register_whole_rest(Registry& registry) {
  registry.shapes.add({"whole_rest",
                       "all that is free of the node on which the job leaves fewest GPUs free",
                       "ours",
                       {.has = {Trait::chooses_gpus, Trait::revises_waiting}}},
                      [](const Parameters&) { return std::make_unique<WholeRest>(); });
}

}  // namespace almanac::policy::shape
