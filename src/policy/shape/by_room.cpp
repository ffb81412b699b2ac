// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that comes while the cluster has room takes the most cost-effective shape that meets its
/// deadline; one that comes while there is little takes that of least GPU time, mostly one GPU, so
/// that others find room; one that has had to wait takes the most cost-effective again.
///
/// A batch spread over more GPUs takes more GPU time. That is no loss while GPUs stand idle, and
/// the only way to be in time once a job has waited; in between it costs others their deadlines.
///
/// Source   ours, on the shapes of Chen et al., TPDS'20 (GENIE), section 6; docs/guide/qos.md
/// compares.
#include "policy/registry.h"
#include "policy/shape/in_time.h"

namespace almanac::policy::shape {
namespace {

/// There is room for a job while it takes no more than this part of the free GPUs. Chosen among
/// halves, thirds, quarters and sixths on GENIE's load, which all do about as well.
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
