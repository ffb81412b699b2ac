// SPDX-License-Identifier: Apache-2.0
#include "kueue/shortage.h"

#include <algorithm>

#include <fmt/format.h>

#include "kueue/multiply.h"

namespace almanac::kueue {
namespace {

using Why = Shortage::Why;

std::vector<std::pair<ResourceAt, Amount>> wants_of_all(const Workload& workload) {
  std::vector<std::pair<ResourceAt, Amount>> made;
  for (const Pods& pods : workload.pod_sets) {
    for (const auto& [resource, amount] : World::wants_of(pods, pods.count)) {
      const auto found = std::find_if(
          made.begin(), made.end(), [at = resource](const auto& each) { return each.first == at; });
      if (found == made.end()) {
        made.emplace_back(resource, amount);
      } else {
        found->second = std::min(found->second + amount, kMostAmount);
      }
    }
  }
  return made;
}

bool suits_all(const Workload& workload, FlavorAt flavor) {
  return std::all_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                     [&](const Pods& pods) { return pods.suits[flavor]; });
}

/// Sets whose quota is short. Requires that the amount is more than is left.
void name_holder(const World& world, QueueAt queue, Slot slot, Shortage& made) {
  const QuotaTree& tree = world.tree;
  const NodeAt holder = tree.limiting(queue, slot);
  made.holder = tree.is_queue(holder) ? "ClusterQueue " + world.setup.queues[holder].name
                                      : "cohort " + tree.cohort_name(holder);
  made.used = tree.used(holder, slot);
  made.quota = tree.subtree(holder, slot);
  made.limit = tree.borrowing_limit(holder, slot);
  if (tree.parent(holder) != kNoNode) {
    made.why = Why::borrowing_limit;
  } else {
    made.why = tree.is_queue(holder) ? Why::queue_quota : Why::cohort_quota;
  }
}

/// GPUs and pods are counted, cores are in thousandths, the rest is bytes.
std::string amount_text(Amount amount, std::string_view resource) {
  if (resource == "cpu") return fmt::format("{:g}", static_cast<double>(amount) / 1000);
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage";
  if (is_bytes) return fmt::format("{:.4g} GB", static_cast<double>(amount) / 1e9);
  return fmt::format("{}", amount);
}

}  // namespace

std::vector<Shortage> shortages_of(const World& world, const Workload& workload) {
  const QuotaTree& tree = world.tree;
  const Queue& queue = world.queues[workload.queue];
  std::vector<Shortage> made;
  for (const PodSet& pods : workload.asked.pod_sets) {
    for (const auto& [resource, amount] : pods.requests) {
      const ResourceAt at = tree.resource(resource);
      if (amount == 0 || (at < tree.num_resources() && queue.group_of(at) != nullptr)) continue;
      made.push_back({.why = Why::not_covered,
                      .resource = resource,
                      .flavor = {},
                      .wanted = times(amount, pods.count),
                      .holder = "ClusterQueue " + queue.declared->name});
    }
  }
  const auto wants = wants_of_all(workload);
  for (const Queue::Group& group : queue.groups) {
    std::vector<Shortage> of_group;
    bool has_room = group.flavors.empty();
    for (const FlavorAt flavor : group.flavors) {
      bool fits = true;
      for (const auto& [resource, amount] : wants) {
        if (!group.covers[resource] || amount == 0) continue;
        const Slot slot = tree.slot(flavor, resource);
        Shortage one{.resource = tree.resources()[resource],
                     .flavor = world.setup.flavors[flavor].name,
                     .wanted = amount,
                     .left = std::max<Amount>(0, tree.left(workload.queue, slot)),
                     .most = tree.most(workload.queue, slot),
                     .holder = {}};
        if (!suits_all(workload, flavor)) {
          one.why = Why::unsuited;
        } else if (amount > one.most) {
          one.why = Why::too_large;
          one.holder = "ClusterQueue " + queue.declared->name;
        } else if (amount > one.left) {
          name_holder(world, workload.queue, slot, one);
        } else {
          continue;
        }
        fits = false;
        const bool is_said =
            one.why == Why::unsuited && !of_group.empty() && of_group.back().flavor == one.flavor;
        if (!is_said) of_group.push_back(std::move(one));
      }
      has_room = has_room || fits;
    }
    if (!has_room) made.insert(made.end(), of_group.begin(), of_group.end());
  }
  return made;
}

std::string to_string(const Shortage& of) {
  const auto amount = [&](Amount value) { return amount_text(value, of.resource); };
  const bool has_unit = amount(of.wanted).ends_with("GB");
  const std::string needs = fmt::format("flavor {}: needs {}{} {}", of.flavor, amount(of.wanted),
                                        has_unit ? " of" : "", of.resource);
  switch (of.why) {
    case Why::unsuited:
      return fmt::format("flavor {}: its labels or taints keep the pods out", of.flavor);
    case Why::not_covered:
      return fmt::format("{} has no quota of {}, of which it needs {}", of.holder, of.resource,
                         amount(of.wanted));
    case Why::too_large:
      return fmt::format("{}, and {} could have at most {} if nothing ran", needs, of.holder,
                         amount(of.most));
    case Why::queue_quota:
      return fmt::format("{}, {} left: {} uses {} of its nominal quota of {} and has no cohort",
                         needs, amount(of.left), of.holder, amount(of.used), amount(of.quota));
    case Why::cohort_quota:
      return fmt::format("{}, {} left: the queues of {} use {} of the {} that they share", needs,
                         amount(of.left), of.holder, amount(of.used), amount(of.quota));
    case Why::borrowing_limit:
      return fmt::format("{}, {} left: {} uses {} of its quota of {} and may borrow at most {}",
                         needs, amount(of.left), of.holder, amount(of.used), amount(of.quota),
                         amount(of.limit));
  }
  return "";
}

}  // namespace almanac::kueue
