// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that arrives while the cluster has room takes the most cost-effective shape that meets its
/// deadline. If there is little room, it takes the shape with the least GPU time, mostly one GPU,
/// so that others find room. A job that has had to wait takes the most cost-effective shape again.
///
/// A batch spread over more GPUs takes more GPU time. That costs nothing while GPUs are idle, and
/// is the only way to be in time after a wait. Otherwise it costs other jobs their deadlines.
///
/// Source   Our own, on the shapes of Chen et al., TPDS'20 (GENIE), section 6; docs/guide/qos.md
///          compares it.
#include "policy/registry.h"
#include "policy/shape/in_time.h"

namespace almanac::policy::shape {
namespace {

/// There is room for a job while it takes at most 1 / kPartOfRoom of the free GPUs. Chosen among 2,
/// 3, 4 and 6 on GENIE's load, which all do about equally well.
constexpr int kPartOfRoom = 3;

struct LessGpuTime {
  bool operator()(const ShapeChoice& a, const ShapeChoice& b) const {
    return a.gpus() / a.rate < b.gpus() / b.rate;
  }
};

class ByRoom final : public Shape {
 public:
  Shaped choose(JobId job, Duration work, const View& view,
                const cluster::Ledger& ledger) override {
    const Shaped effective = effective_.choose(job, work, view, ledger);
    if (view.now > view.request(job).submit) return effective;
    if (kPartOfRoom * effective.gpus <= ledger.free_gpus(view.progress(job).vc)) return effective;
    Shaped frugal = frugal_.choose(job, work, view, ledger);
    frugal.until = view.now + Duration{1};
    return frugal;
  }

 private:
  InTime<MoreEffective> effective_;
  InTime<LessGpuTime> frugal_;
};

}  // namespace

void register_by_room(Registry& registry) {
  registry.shapes.add({"by_room",
                       "least GPU time when GPUs are scarce, else the most cost-effective; always "
                       "in time for the deadline",
                       "docs/guide/qos.md",
                       {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::reads_speeds,
                                Trait::chooses_gpus, Trait::revises_waiting}}},
                      [](const Parameters&) { return std::make_unique<ByRoom>(); });
}

}  // namespace almanac::policy::shape
