// SPDX-License-Identifier: Apache-2.0

/// \file
/// Work-conserving: in order of rank, and whoever does not fit is passed by all who do.
///
/// Nobody holds a reservation, so a large job may wait as long as small ones come.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6: "the ready task is popped".
/// Cost     a demand that does not fit is tried once, however many jobs ask it: O(demands that
///          wait) a decision, and O(log jobs) a start.
#include <algorithm>
#include <vector>

#include "policy/desk.h"

namespace almanac::policy {
namespace {

class ScanPass final : public Pass {
 public:
  explicit ScanPass(Desk& desk) : desk_(desk) {}

  void run(VcState& vc) override {
    // Positions of classes that may fit, the one whose front is first on top.
    const auto later = [&](std::size_t a, std::size_t b) {
      return vc.waiting.classes()[b].front < vc.waiting.classes()[a].front;
    };
    heap_.clear();
    for (std::size_t at = 0; at < vc.waiting.classes().size(); ++at) {
      if (!vc.waiting.classes()[at].jobs.empty()) heap_.push_back(at);
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    unmet_.clear();
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const WaitingQueue::Class& next = vc.waiting.classes()[heap_.back()];
      if (!start_first(vc, next) || next.jobs.empty()) {
        heap_.pop_back();
      } else {
        std::push_heap(heap_.begin(), heap_.end(), later);
      }
    }
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  bool start_first(VcState& vc, const WaitingQueue::Class& jobs) {
    const bool hopeless =
        std::any_of(unmet_.begin(), unmet_.end(),
                    [&](const cluster::Demand& unmet) { return jobs.demand.covers(unmet); });
    if (hopeless) return false;
    const auto grants = desk_.place(vc.vc, jobs.demand);
    if (grants.empty()) {
      unmet_.push_back(jobs.demand);
      return false;
    }
    desk_.start(vc, jobs.jobs.front(), grants);
    return true;
  }

  Desk& desk_;
  std::vector<std::size_t> heap_;
  std::vector<cluster::Demand> unmet_;
};

}  // namespace

std::unique_ptr<Pass> make_scan_pass(Desk& desk) { return std::make_unique<ScanPass>(desk); }

}  // namespace almanac::policy
