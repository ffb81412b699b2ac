// SPDX-License-Identifier: Apache-2.0

/// \file
/// A capacity scheduler: each model owns an equal part of the GPUs and a queue, and the first job
/// of a queue blocks the others in it. No model borrows.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: Capacity.
/// Differs  A part is rounded up to whole GPUs. Only models that have been submitted so far count,
///          because later ones are not known.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class ModelsPass final : public Pass {
 public:
  explicit ModelsPass(Desk& desk) : desk_(desk) {}

  void arrived(VcState& vc, JobId job) override {
    owner(vc.vc, job).waiting.emplace(desk_.key(job), job);
  }

  void adopted(VcState& vc, JobId job) override {
    owner(vc.vc, job).held += desk_.demand(job).gpus;
  }

  void withdrawn(VcState& vc, JobId job) override {
    owner(vc.vc, job).waiting.erase({desk_.key(job), job});
  }

  void ended(VcState& vc, JobId job) override { owner(vc.vc, job).held -= desk_.demand(job).gpus; }

  void run(VcState& vc) override {
    for (Owner& each : owners(vc.vc)) {
      while (!each.waiting.empty()) {
        const JobId job = each.waiting.begin()->second;
        const cluster::Demand& demand = desk_.demand(job);
        if (each.held > 0 && each.held + demand.gpus > part(vc.vc)) break;
        const auto grants = desk_.place(vc.vc, demand);
        if (grants.empty()) break;
        each.waiting.erase(each.waiting.begin());
        each.held += demand.gpus;
        desk_.start(vc, job, grants);
      }
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    const auto& all = owners_[index(vc.vc)];
    const NameId model = desk_.view().request(job).model;
    const auto own = std::find_if(all.begin(), all.end(),
                                  [&](const Owner& each) { return each.model == model; });
    const JobId first = own->waiting.begin()->second;
    if (first != job) return {.kind = ReasonKind::behind, .other = first};
    return {.kind = ReasonKind::part_used};
  }

 private:
  struct Owner {
    NameId model{};
    int held = 0;
    std::set<std::pair<QueueKey, JobId>> waiting{};
  };

  std::vector<Owner>& owners(VcId vc) {
    if (owners_.size() <= index(vc)) owners_.resize(index(vc) + 1);
    return owners_[index(vc)];
  }

  Owner& owner(VcId vc, JobId job) {
    std::vector<Owner>& all = owners(vc);
    const NameId model = desk_.view().request(job).model;
    for (Owner& each : all) {
      if (each.model == model) return each;
    }
    return all.emplace_back(Owner{.model = model});
  }

  int part(VcId vc) {
    int gpus = 0;
    for (const cluster::Pool& pool : desk_.ledger().pools(vc)) gpus += pool.capacity;
    const auto count = static_cast<int>(owners(vc).size());
    return (gpus + count - 1) / count;
  }

  Desk& desk_;
  std::vector<std::vector<Owner>> owners_;  // of each virtual cluster
};

}  // namespace

namespace pass {

void register_models(Registry& registry) {
  registry.passes.add(
      {.name = "models",
       .summary = "each model has an equal part of the GPUs and its own queue",
       .source = "Chen et al. TPDS'20 (GENIE) §7.1",
       .traits = {.has = {Trait::splits_queue, Trait::parts_cluster},
                  .bars = {Trait::revises_waiting}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<ModelsPass>(desk); });
}

}  // namespace pass
}  // namespace almanac::policy
