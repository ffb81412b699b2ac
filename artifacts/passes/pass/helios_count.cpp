// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets the first jobs run, waiting and running ones alike, that fill the virtual cluster by count;
/// stops the others. Jobs that do not fit into what is left of the count are passed over.
///
/// Source   Hu et al., SC'21, the artifact's SRTF (`simulator` of the public code), kept with its
///          faults: fragmentation is ignored when jobs are chosen, so that a job may be stopped for
///          one that cannot be placed; equal ranks favour the waiting job.
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class CountPass final : public Pass {
 public:
  explicit CountPass(Desk& desk) : desk_(desk) {}

  PassNeeds needs() const override {
    return {.running = RunningRank::of_order, .whole_gpus = true};
  }

  void run(VcState& vc) override {
    if (vc.waiting.empty()) return;
    choose(vc);
    for (const JobId job : stops_) {
      desk_.give_back(job);
      desk_.stop(vc, job);
    }
    for (const JobId job : starts_) {
      const auto grants = desk_.place(vc.vc, desk_.demand(job));
      if (!grants.empty()) desk_.start(vc, job, grants);
    }
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  void choose(VcState& vc) {
    desk_.refile_running(vc);
    starts_.clear();
    stops_.clear();
    int quota = 0;
    for (const cluster::Pool& pool : desk_.ledger().pools(vc.vc)) quota += pool.capacity;

    WaitingQueue::Walk waiting(vc.waiting);
    RankedQueue::Cursor running(vc.running);
    const double fallen = desk_.fallen();
    for (;;) {
      // The quota only shrinks: what does not fit into it never will.
      while (!waiting.at_end() && waiting.demand().gpus > quota) waiting.leave_out();
      const QueueEntry* const runner = running.get();
      if (waiting.at_end() && runner == nullptr) return;
      if (!waiting.at_end() &&
          (runner == nullptr || waiting.key().rank <= runner->key.rank - fallen)) {
        quota -= waiting.demand().gpus;
        starts_.push_back(waiting.job());
        waiting.advance();
      } else {
        const int gpus = desk_.view().request(runner->job).gpus;
        if (gpus <= quota) {
          quota -= gpus;
        } else {
          stops_.push_back(runner->job);
        }
        running.advance();
      }
    }
  }

  Desk& desk_;
  std::vector<JobId> starts_;
  std::vector<JobId> stops_;
};

}  // namespace

namespace published {

void register_helios_count(Registry& registry) {
  registry.passes.add(
      {.name = "helios_count",
       .summary = "the first jobs that fill the GPUs by count run, as Helios' simulator has it; "
                  "the others are stopped",
       .source = "Hu et al. SC'21 artifact",
       .traits = {.has = {Trait::stops_jobs}, .bars = {Trait::revises_waiting}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<CountPass>(desk); });
}

}  // namespace published
}  // namespace almanac::policy
