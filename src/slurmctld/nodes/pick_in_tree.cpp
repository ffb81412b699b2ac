// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   Slurm 22.05, select/cons_tres/job_test.c (_eval_nodes_topo, _topo_choose_best_switch).
/// Differs  A root is its own parent: in 22.05 it is a child of the first switch, and slurmctld
///          never returns on trees whose leaves differ in depth.
#include <algorithm>
#include <set>

#include "slurmctld/nodes/pick.h"

namespace almanac::slurmctld {
namespace {

constexpr std::size_t kNoSwitch = ~std::size_t{0};

class TreePick {
 public:
  explicit TreePick(Pick& pick)
      : pick_(pick),
        switches_(pick.table().switches),
        usable_(switches_.size(), NodeBits(pick.table().size())),
        required_(switches_.size()),
        count_(switches_.size()),
        distance_(switches_.size()) {
    NodeBits offered(pick.table().size());
    for (const Offer& offer : pick_.offers()) offered.insert(offer.node);
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      usable_[at] = switches_[at].nodes;
      usable_[at] &= offered;
    }
  }

  bool run() {
    const std::vector<NodeAt>& named = pick_.question().request.required;
    if (!pick_.take_required()) return false;
    require_switches_of(named);
    const std::size_t top = top_switch(!named.empty());
    if (top == kNoSwitch) return false;
    const NodeBits below = usable_[top];
    for (NodeBits& each : usable_) each &= below;
    if (!named.empty() && pick_.is_done()) return true;
    if (!choose_classes(below)) return false;
    if (!take_light_classes(!named.empty())) return pick_.is_done();
    return take_leaves() || pick_.is_acceptable();
  }

 private:
  void require_switches_of(const std::vector<NodeAt>& nodes) {
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      if (std::any_of(nodes.begin(), nodes.end(),
                      [&](NodeAt node) { return usable_[at].contains(node); })) {
        required_[at] = true;
      }
    }
  }

  /// Returns the highest switch with enough nodes, the lightest and last of those. CPUs do not
  /// count.
  std::size_t top_switch(bool is_named) const {
    std::size_t top = kNoSwitch;
    std::int64_t top_weight = 0;
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      if (required_[at] && (top == kNoSwitch || switches_[at].level > switches_[top].level)) {
        top = at;
      }
      if (is_named || usable_[at].empty() ||
          !pick_.is_enough(static_cast<int>(usable_[at].size()))) {
        continue;
      }
      std::int64_t weight = -1;
      for (const Offer& offer : pick_.offers()) {
        if (!usable_[at].contains(offer.node)) continue;
        weight = weight < 0 ? offer.weight : std::min(weight, offer.weight);
      }
      if (top == kNoSwitch ||
          (switches_[at].level >= switches_[top].level && weight <= top_weight)) {
        top = at;
        top_weight = weight;
      }
    }
    return top;
  }

  /// Collects whole classes of weight until they have enough; all but the last are taken whole.
  bool choose_classes(const NodeBits& below) {
    best_ = light_ = NodeBits(pick_.table().size());
    std::set<std::int64_t> weights;
    for (const Offer& offer : pick_.offers()) weights.insert(offer.weight);
    std::int64_t cpus = 0;
    int gpus = 0;
    for (const std::int64_t weight : weights) {
      light_ = best_;
      for (const Offer& offer : pick_.offers()) {
        if (offer.weight != weight || offer.taken || !below.contains(offer.node)) continue;
        best_.insert(offer.node);
        cpus += offer.cpus;
        gpus += offer.gpus;
      }
      if (cpus >= pick_.cpus_left() && gpus >= pick_.gpus_left() &&
          pick_.is_enough(static_cast<int>(best_.size()))) {
        return true;
      }
    }
    return false;
  }

  /// Returns false if the pick ends here, done or not.
  bool take_light_classes(bool is_named) {
    for (Offer& offer : pick_.offers()) {
      if (light_.contains(offer.node) && pick_.room_for_nodes() > 0) pick_.take(offer);
    }
    const bool any_light = !light_.empty();
    if (any_light) {
      for (std::size_t at = 0; at < switches_.size(); ++at) {
        if (usable_[at].overlaps(light_)) required_[at] = true;
      }
      if (pick_.is_done() || pick_.room_for_nodes() <= 0) return false;
    }
    NodeBits chosen = best_;
    for (const Pick::Taken& each : pick_.taken()) chosen.insert(each.node);
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      usable_[at] &= chosen;
      count_[at] = static_cast<int>(usable_[at].size());
    }
    if (!is_named && !any_light) return true;
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      if (required_[at] && switches_[at].level == 0 && take_switch(at)) return false;
    }
    return true;
  }

  /// Takes the nodes below a leaf in order. Returns whether the job then has all it needs.
  bool take_switch(std::size_t leaf) {
    for (Offer& offer : pick_.offers()) {
      if (offer.taken || !usable_[leaf].contains(offer.node)) continue;
      if (pick_.room_for_nodes() <= 0) return false;
      pick_.take(offer);
      if (pick_.is_done()) return true;
    }
    return false;
  }

  bool take_leaves() {
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      if (required_[at]) add_distances(at);
    }
    for (int before = pick_.nodes_left() + 1; before != pick_.nodes_left();) {
      before = pick_.nodes_left();
      const std::size_t leaf = best_leaf();
      if (leaf == kNoSwitch) break;
      add_distances(leaf);
      if (take_switch(leaf)) return true;
      count_[leaf] = 0;
    }
    return false;
  }

  void add_distances(std::size_t from) {
    for (std::size_t to = 0; to < switches_.size(); ++to) {
      distance_[to] = std::min(Switch::kUnreachable, distance_[to] + switches_[from].hops[to]);
    }
  }

  /// Returns the nearest leaf with nodes; of those equally near, the one that fits best.
  std::size_t best_leaf() const {
    const auto can_be = [&](std::size_t at) {
      return count_[at] > 0 && distance_[at] < Switch::kUnreachable;
    };
    std::size_t best = kNoSwitch;
    for (std::size_t at = 0; at < switches_.size(); ++at) {
      if (required_[at] || switches_[at].level > 0 || !can_be(at)) continue;
      if (best == kNoSwitch) {
        best = at;
        continue;
      }
      const int fit = compare(at, best);
      if ((distance_[at] < distance_[best] && fit >= 0) ||
          (distance_[at] == distance_[best] && fit > 0)) {
        best = at;
      }
    }
    return best;
  }

  /// Returns a positive number if `one` suits the missing nodes better than `other`. Climbs while
  /// neither has enough of them.
  int compare(std::size_t one, std::size_t other) const {
    const int need = pick_.nodes_left();
    for (;;) {
      const bool fits = count_[one] >= need;
      const bool other_fits = count_[other] >= need;
      if (fits && other_fits && count_[one] != count_[other]) {
        return count_[one] < count_[other] ? 1 : -1;
      }
      if (fits != other_fits) return fits ? 1 : -1;
      if (fits) break;
      const std::size_t above = switches_[one].parent;
      const std::size_t other_above = switches_[other].parent;
      if (above == other_above || (above == one && other_above == other)) break;
      one = above;
      other = other_above;
    }
    if (count_[one] != count_[other]) return count_[one] > count_[other] ? 1 : -1;
    if (switches_[one].level == switches_[other].level) return 0;
    return switches_[one].level < switches_[other].level ? 1 : -1;
  }

  Pick& pick_;
  const std::vector<Switch>& switches_;
  std::vector<NodeBits> usable_;  // by switch
  std::vector<bool> required_;    // by switch: it has nodes of the job already
  std::vector<int> count_;        // by switch: usable nodes, 0 once they are taken
  std::vector<int> distance_;     // by switch: hops to the switches of the job, summed
  NodeBits best_, light_;
};

}  // namespace

bool pick_in_tree(Pick& pick) { return TreePick(pick).run(); }

}  // namespace almanac::slurmctld
