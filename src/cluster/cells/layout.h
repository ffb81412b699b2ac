// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cells of a cluster, and the cells that each virtual cluster owns.
///
/// A chain is a kind of tree, such as rack, node, socket, GPU. Its name is the type of its top
/// cells.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cells/cell.h"

namespace almanac::cells {

/// A type of cell that consists of others. A type that only appears as a child is that of a leaf.
struct Type {
  std::string name{};
  std::string child{};
  int children = 0;
  bool node = false;  ///< Exactly one type of each chain is a node.
};

/// A physical cell and its contents, in the order of the free lists.
struct Place {
  std::string type{};
  std::string node{};    ///< For a leaf.
  int leaf = -1;         ///< For a leaf: its number in the node.
  std::string pinned{};  ///< Name of a pinned cell; empty if not pinned.
  std::vector<Place> within{};
};

/// Cells that a virtual cluster owns.
struct Share {
  std::string vc{};
  std::string pinned{};  ///< One physical cell by its name; empty for `cells` cells of a type
                         ///< anywhere.
  std::string chain{};
  std::string type{};
  int cells = 0;
};

struct Layout {
  std::vector<Type> types{};
  std::vector<Place> places{};  ///< The top cells.
  std::vector<Share> shares{};
};

struct Chain {
  std::string name{};
  std::vector<std::string> types{};  ///< By level, like the next three.
  std::vector<int> leaves{};         ///< Per cell.
  std::vector<int> children{};       ///< Per cell.
  Levels cells{};
  int top() const { return static_cast<int>(types.size()) - 1; }
};

struct VirtualCluster {
  std::string name{};
  std::map<int, Levels> cells{};  ///< By chain, without pinned cells.
  std::map<int, Levels> roots{};  ///< Those of them that are owned as a whole.
  std::map<std::string, Levels> pinned{};
  std::map<std::string, Cell*> pinned_to{};  ///< The physical cell.
};

/// A layout with its cells. Pointers to cells stay valid when it is moved.
struct Cluster {
  std::vector<std::string> nodes{};
  std::vector<Chain> chains{};
  std::vector<VirtualCluster> vcs{};
  std::deque<Cell> cells{};

  /// Returns -1 if there is none of that name, like find_vc().
  int find_node(const std::string& name) const;
  int find_vc(const std::string& name) const;
};

/// Fails if the layout contradicts itself, or if virtual clusters own more than exists.
Result<Cluster> build(const Layout& layout);

}  // namespace almanac::cells
