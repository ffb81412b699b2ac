// SPDX-License-Identifier: Apache-2.0

/// \file
/// HiveD: schedules gangs of pods. Each gang is guaranteed the cells of its virtual cluster, or
/// opportunistic in any cell.
///
/// A guaranteed gang is placed on the virtual cells of its virtual cluster, which are bound to
/// physical cells when needed. Other users cannot block it: a gang that fits what its virtual
/// cluster owns gets it while nodes are healthy. Opportunistic gangs run on any free physical
/// leaves, and may be preempted.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
/// Differs  Chains of a leaf type are tried by name, the last first, and leaf types by name; the
///          program follows the order of a hash table. All gangs in the way are returned as victims
///          at once; the program returns those of a random node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/layout.h"
#include "cluster/cells/pool.h"
#include "cluster/cells/view.h"

namespace almanac::cells {

struct Member {
  int pods = 0;
  int leaves = 0;  ///< Per pod.
};

/// A gang: either all of its pods are placed, or none.
struct Request {
  std::string group{};
  std::string vc{};
  int priority = kOpportunistic;
  bool lazy = false;        ///< May be demoted in place if its virtual cells are needed.
  std::string pinned{};     ///< Pinned cell that it must use; empty for none.
  std::string leaf_type{};  ///< Empty for any. Ignored for a pinned cell.
  std::vector<Member> members{};

  /// Leaves of each pod, in ascending order.
  std::vector<int> pods() const;
};

struct Group {
  Request request{};
  Placement physical{};
  std::optional<Placement> owned{};  ///< Virtual leaves; empty for an opportunistic group.
  bool preempting = false;           ///< Waits for its victims to end.
  bool demoted = false;              ///< Lazily preempted: continues as an opportunistic group.
};

/// The place of a pod.
struct Pod {
  std::string node{};
  std::vector<int> leaves{};  ///< By number in the node, in the order chosen.
  /// For each leaf, the type of the cell that its owner owns as a whole; empty if opportunistic.
  std::vector<std::string> owned{};
};

struct Decision {
  enum class What {
    bind,     ///< Call allocate().
    preempt,  ///< Release the victims, then ask again.
    wait,
    refuse,  ///< The request can never be served; `why` gives the reason.
  };
  What what = What::wait;
  std::string chain{};
  std::vector<Pod> pods{};             ///< In ascending order of leaves.
  std::vector<std::string> victims{};  ///< Names of groups.
  std::vector<std::string> demoted{};  ///< Names of groups that were demoted for it.
  std::string why{};
};

class Scheduler {
 public:
  explicit Scheduler(Cluster cluster);
  Scheduler(Scheduler&&) = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Decides on a group as a whole; repeats the decision for a group that is already allocated.
  /// `suggested`: the nodes that may be used, by number. With `claim`, a group that must preempt
  /// others takes its leaves at once, so that no other group can. Demotions take effect even if the
  /// group is never allocated.
  Decision decide(const Request& request, const Nodes& suggested, bool claim = true);

  /// Whether the virtual cluster could serve the guaranteed request now if it were alone: judged by
  /// what it owns, ignoring the jobs of others.
  bool fits(const Request& request) const;

  /// Applies a decision, made here or by another scheduler before a restart. Leaves out what no
  /// longer exists; demotes a group whose virtual cells no longer exist.
  void allocate(const Request& request, const Decision& decision);
  /// Removes a group that has ended, is a victim, or stops preempting.
  void release(const std::string& group);

  void set_healthy(int node, bool healthy);
  /// A counter that grows with every leaf taken or returned, also in trials, and with every node
  /// that changes its position in a view. While neither it nor the health of nodes changes,
  /// decide() gives the same answers.
  std::uint64_t changes() const { return changes_; }

  const Cluster& cluster() const { return cluster_; }
  /// Returns null unless the group is allocated or preempting.
  const Group* find(const std::string& group) const;
  /// By chain.
  const std::vector<Pool>& pools() const { return pools_; }
  /// All nodes.
  Nodes everywhere() const { return Nodes(cluster_.nodes.size(), true); }

 private:
  struct Found {
    Placement physical{};
    std::optional<Placement> owned{};
    std::vector<std::string> demoted{};
  };

  std::optional<Placement> look(View& view, const Request& request, const Nodes& suggested);
  std::string check(const Request& request) const;
  std::vector<int> chains(const Request& request) const;
  std::optional<Found> place(const Request& request, const Nodes& suggested);
  std::optional<Found> place_guaranteed(const Request& request, int chain, View& view,
                                        const Nodes& suggested);
  Decision describe(const Placement& physical, const std::optional<Placement>& owned) const;
  static std::vector<Group*> victims(const Placement& physical);
  void claim(const Request& request, const Found& found);
  void cancel(Group& group);
  void demote(Group& group);
  void evict(Cell& owned);
  void restore(Group& group, const Placement& owned);
  Cell* find_leaf(const std::string& chain, int node, int index) const;
  Cell* find_owned(const Request& request, Cell& leaf, const std::string& type) const;
  bool take_leaf(Cell& leaf, Cell* owned, int priority, int vc);
  void give_leaf(Cell& leaf, int vc);
  int vc_of(const Group& group) const { return cluster_.find_vc(group.request.vc); }

  struct Owner {
    std::map<int, View> views{};  // by chain
    std::map<std::string, View> pinned{};
  };

  Cluster cluster_;
  std::vector<Pool> pools_;                            // by chain
  std::vector<View> physical_;                         // by chain
  std::vector<Owner> owners_;                          // by virtual cluster
  std::map<std::string, std::vector<int>> by_leaf_;    // chains of a leaf type, in the order tried
  std::map<std::tuple<int, int, int>, Cell*> leaves_;  // by chain, node, index
  std::map<std::string, Group> groups_;
  std::uint64_t changes_ = 0;
};

}  // namespace almanac::cells
