// SPDX-License-Identifier: Apache-2.0

/// \file
/// HiveD: gangs of pods, each guaranteed the cells of its virtual cluster or opportunistic in any.
///
/// A guaranteed gang is placed among the virtual cells of its virtual cluster alone, and these are
/// bound to physical cells when they are needed. So what others do cannot block it: a gang that
/// fits what its virtual cluster owns gets it while nodes are healthy. Opportunistic gangs run on
/// whatever physical leaves are free, and give way.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
/// Differs  Chains of a leaf type are tried by name, the last first, and leaf types by name, where
/// the program follows the order of a hash table. All gangs in the way are named as victims at
/// once, where it names those of a node drawn at random.
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
  int leaves = 0;  ///< Of each pod.
};

/// A gang: all its pods are placed, or none.
struct Request {
  std::string group{};
  std::string vc{};
  int priority = kOpportunistic;
  bool lazy = false;        ///< May be demoted in place when its virtual cells are needed.
  std::string pinned{};     ///< The pinned cell that it is to be in; empty = none.
  std::string leaf_type{};  ///< Empty = any. Not looked at for a pinned cell.
  std::vector<Member> members{};

  /// Leaves of each pod, ascending.
  std::vector<int> pods() const;
};

struct Group {
  Request request{};
  Placement physical{};
  std::optional<Placement> owned{};  ///< Virtual leaves; none of an opportunistic group.
  bool preempting = false;           ///< Waits for its victims to go.
  bool demoted = false;              ///< Lazily preempted: it runs on as an opportunistic one.
};

/// Where a pod is put.
struct Pod {
  std::string node{};
  std::vector<int> leaves{};         ///< By number in the node, in the order chosen.
  std::vector<std::string> owned{};  ///< For each the type of the cell that its owner has whole;
                                     ///< empty if opportunistic.
};

struct Decision {
  enum class What {
    bind,     ///< Tell `allocate`.
    preempt,  ///< Once the victims are released, ask again.
    wait,
    refuse,  ///< The request can never be served, `why` says for which reason.
  };
  What what = What::wait;
  std::string chain{};
  std::vector<Pod> pods{};             ///< Ascending by leaves.
  std::vector<std::string> victims{};  ///< Groups, by name.
  std::vector<std::string> demoted{};  ///< Groups demoted for it, by name.
  std::string why{};
};

class Scheduler {
 public:
  explicit Scheduler(Cluster cluster);
  Scheduler(Scheduler&&) = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Decides on a group as a whole, or says again where one is that is allocated. `suggested`:
  /// the nodes that may be used, by number. With `claim` a group that needs others to go takes its
  /// leaves at once, so that no other one does. Demotions are real whether or not the group is
  /// allocated then.
  Decision decide(const Request& request, const Nodes& suggested, bool claim = true);

  /// Whether the virtual cluster could serve the guaranteed request now, were it alone: by what it
  /// owns, without the jobs of others.
  bool fits(const Request& request) const;

  /// Makes true what was decided, here or by another scheduler before a restart. What is no longer
  /// there is left out; a group whose virtual cells are not is demoted.
  void allocate(const Request& request, const Decision& decision);
  /// The group has ended, or is a victim; or it was preempting and gives up.
  void release(const std::string& group);

  void set_healthy(int node, bool healthy);
  /// Grows with leaves that are taken or given back, for good or to see what would come of it, and
  /// with nodes that change places in a view. While it stays the same and nodes as healthy, so do
  /// the answers of decide().
  std::uint64_t changes() const { return changes_; }

  const Cluster& cluster() const { return cluster_; }
  /// Null unless it is allocated or preempting.
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
  std::map<std::string, std::vector<int>> by_leaf_;    // chains of a leaf type, first tried first
  std::map<std::tuple<int, int, int>, Cell*> leaves_;  // by chain, node, index
  std::map<std::string, Group> groups_;
  std::uint64_t changes_ = 0;
};

}  // namespace almanac::cells
