// SPDX-License-Identifier: Apache-2.0

/// \file
/// An elastic job uses up what is free of one node when it arrives, so that fewer nodes have a few
/// GPUs left that no larger job can use. Of the nodes with room for what it requests, it takes the
/// one on which it leaves fewest GPUs free; among these, the fullest, which keeps whole nodes for
/// jobs that need them. A job that has to wait starts on what it requests.
///
/// Where speeds are known, a job takes of these GPUs the number on which it is fastest.
///
/// Source   Our own: FGD's concern (Weng et al., ATC'23), met by the sizes of elastic jobs.
/// Cost     O(kinds of nodes x GPUs of a node) per arrival
#include <algorithm>
#include <unordered_set>

#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class WholeRest final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger& ledger) override {
    const Progress& state = view.progress(job);
    const cluster::Demand& asked = view.demand(state.demand);
    Shaped made{.gpus = asked.gpus, .rate = rate_on(job, asked.gpus, view)};
    if (!came_.insert(job).second) return made;  // it had to wait
    int fewest_left = cluster::kMaxGpusPerNode + 1;
    for (const cluster::Pool& pool : ledger.pools(state.vc)) {
      if (!pool.suits(asked)) continue;
      for (int free = pool.tightest(asked.gpus); free > 0; free = pool.tightest(free + 1)) {
        const int most = std::min(free, view.request(job).max_gpus);
        const Shaped here = fastest(job, asked.gpus, most, view);
        if (free - here.gpus >= fewest_left) continue;
        fewest_left = free - here.gpus;
        made = here;
      }
    }
    if (made.gpus > asked.gpus) made.until = view.now + Duration{1};
    return made;
  }
  bool needs_speeds() const override { return false; }

 private:
  /// Returns the number of GPUs from `least` to `most` on which the job is fastest, the smallest of
  /// equals; `most` if speeds are unknown.
  static Shaped fastest(JobId job, int least, int most, const View& view) {
    if (view.speeds == nullptr) return {.gpus = std::max(least, most)};
    Shaped best{.gpus = least, .rate = rate_on(job, least, view)};
    for (int gpus = least + 1; gpus <= most; ++gpus) {
      const double rate = rate_on(job, gpus, view);
      if (rate > best.rate) best = {.gpus = gpus, .rate = rate};
    }
    return best;
  }
  static double rate_on(JobId job, int gpus, const View& view) {
    return view.speeds == nullptr ? 1 : view.speeds->rate(job, 1, gpus);
  }

  std::unordered_set<JobId> came_;
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
