// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of shapes that give an elastic job more GPUs than it requests only when it arrives. A job
/// that has to wait starts on what it requests.
#pragma once

#include <algorithm>
#include <unordered_set>

#include "policy/slots.h"
#include "trace/sizes.h"

namespace almanac::policy {

class ArrivalShape : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger& ledger) final {
    const cluster::Demand& asked = view.demand(view.progress(job).demand);
    if (!came_.insert(job).second) return fastest(job, asked.gpus, asked.gpus, view);
    Shaped made = on_arrival(job, asked, view, ledger);
    if (made.gpus > asked.gpus) made.until = view.now + Duration{1};
    return made;
  }
  bool needs_speeds() const final { return false; }

 protected:
  /// Returns the shape of a job that requests `asked` and has just arrived.
  virtual Shaped on_arrival(JobId job, const cluster::Demand& asked, const View& view,
                            const cluster::Ledger& ledger) = 0;

  /// Returns the number of GPUs from `least` to `most` on which the job is fastest, the smallest of
  /// equals; the larger of both if speeds are unknown. O(most - least).
  static Shaped fastest(JobId job, int least, int most, const View& view) {
    const int step = trace::size_step(view.request(job));
    if (view.speeds == nullptr) return {.gpus = std::max(least, most / step * step)};
    Shaped best{.gpus = least, .rate = view.speeds->rate(job, 1, least)};
    for (int gpus = least + step; gpus <= most; gpus += step) {
      const double rate = view.speeds->rate(job, 1, gpus);
      if (rate > best.rate) best = {.gpus = gpus, .rate = rate};
    }
    return best;
  }

 private:
  std::unordered_set<JobId> came_;
};

}  // namespace almanac::policy
