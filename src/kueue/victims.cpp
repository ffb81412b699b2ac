// SPDX-License-Identifier: Apache-2.0
#include "kueue/victims.h"

#include <algorithm>

namespace almanac::kueue {

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::in_cluster_queue:
      return "InClusterQueue";
    case Reason::in_cohort_reclamation:
      return "InCohortReclamation";
    case Reason::in_cohort_reclaim_while_borrowing:
      return "InCohortReclaimWhileBorrowing";
    case Reason::in_cohort_fair_sharing:
      return "InCohortFairSharing";
  }
  return "";
}

std::vector<Victim> find_victims(World& world, const Workload& workload,
                                 const std::vector<Slot>& needed, const Wants& wants) {
  return world.setup.is_fair ? find_fair_victims(world, workload, needed, wants)
                             : find_classical_victims(world, workload, needed, wants);
}

bool uses_any(const Workload& running, const std::vector<Slot>& slots) {
  const Wants& usage = running.admission->usage;
  return std::any_of(usage.begin(), usage.end(), [&](const Want& each) {
    return std::find(slots.begin(), slots.end(), each.slot) != slots.end();
  });
}

bool has_room(const QuotaTree& tree, QueueAt queue, const Wants& wants, bool may_borrow) {
  return std::all_of(wants.begin(), wants.end(), [&](const Want& want) {
    return (may_borrow || !tree.borrows(queue, want.slot, want.amount)) &&
           want.amount <= std::max<Amount>(0, tree.left(queue, want.slot));
  });
}

void put_back_spared(World& world, QueueAt queue, const Wants& wants, bool may_borrow,
                     std::vector<Victim>& victims) {
  for (auto at = static_cast<std::ptrdiff_t>(victims.size()) - 2; at >= 0; --at) {
    Victim& victim = victims[static_cast<std::size_t>(at)];
    world.put_back(*victim.workload);
    if (has_room(world.tree, queue, wants, may_borrow)) {
      victim = victims.back();
      victims.pop_back();
    } else {
      world.remove(*victim.workload);
    }
  }
}

}  // namespace almanac::kueue
