// SPDX-License-Identifier: Apache-2.0
#include "kueue/turns.h"

#include "base/check.h"

namespace almanac::kueue {

bool is_fairly_preempted_before(QueueAt preemptor, const Workload& a, const Workload& b) {
  const bool a_is_own = a.queue == preemptor;
  const bool b_is_own = b.queue == preemptor;
  if (a_is_own != b_is_own) return b_is_own;
  return is_preempted_before(a, b);
}

Turns::Turns(const World& world, QueueAt preemptor, const std::vector<Workload*>& candidates)
    : tree_(world.tree),
      preemptor_(preemptor),
      left_(world.queues.size()),
      given_(world.queues.size()),
      is_dropped_(world.tree.num_nodes()),
      is_ancestor_(world.tree.num_nodes()) {
  for (Workload* const each : candidates) left_[each->queue].push_back(each);
  for (NodeAt up = tree_.parent(preemptor); up != kNoNode; up = tree_.parent(up)) {
    is_ancestor_[up] = true;
  }
}

NodeAt Turns::next() {
  if (tree_.parent(preemptor_) == kNoNode) {
    return is_dropped_[preemptor_] || !has_left(preemptor_) ? kNoNode : preemptor_;
  }
  const NodeAt root = tree_.root(preemptor_);
  while (!is_dropped_[root]) {
    if (const NodeAt found = largest_below(root); found != kNoNode) return found;
  }
  return kNoNode;
}

NodeAt Turns::largest_below(NodeAt node) {
  using Key = std::pair<int, double>;
  constexpr Key kLeast{0, -1.0};
  NodeAt queue = kNoNode;
  Key queue_key = kLeast;
  for (const NodeAt each : tree_.queues(node)) {
    if (is_dropped_[each]) continue;
    const Share share = tree_.share(each);
    if ((!share.borrows && each != preemptor_) || !has_left(each)) {
      is_dropped_[each] = true;
    } else if (queue != kNoNode && share.key() == queue_key) {
      if (is_fairly_preempted_before(preemptor_, first_of(each), first_of(queue))) queue = each;
    } else if (share.key() > queue_key) {
      queue = each;
      queue_key = share.key();
    }
  }
  NodeAt cohort = kNoNode;
  Key cohort_key = kLeast;
  for (const NodeAt each : tree_.cohorts(node)) {
    if (is_dropped_[each]) continue;
    const Share share = tree_.share(each);
    if (!share.borrows && !is_ancestor_[each]) {
      is_dropped_[each] = true;
    } else if (share.key() >= cohort_key) {
      cohort = each;
      cohort_key = share.key();
    }
  }
  if (queue == kNoNode && cohort == kNoNode) {
    is_dropped_[node] = true;
    return kNoNode;
  }
  return cohort_key >= queue_key ? largest_below(cohort) : queue;
}

std::pair<NodeAt, NodeAt> below_common(const QuotaTree& tree, QueueAt one, QueueAt other) {
  NodeAt theirs = other;
  for (NodeAt common = tree.parent(other); common != kNoNode; common = tree.parent(common)) {
    NodeAt ours = one;
    while (ours != kNoNode && tree.parent(ours) != common) ours = tree.parent(ours);
    if (ours != kNoNode) return {ours, theirs};
    theirs = common;
  }
  ALMANAC_CHECK(false, "queues {} and {} are in two trees", one, other);
  return {};
}

}  // namespace almanac::kueue
