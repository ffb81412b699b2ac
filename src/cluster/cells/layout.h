// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a cluster is made of, and which virtual cluster owns how much of it.
///
/// A chain is a kind of tree: rack, node, socket, GPU. Its name is the type of its top cells.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cells/cell.h"

namespace almanac::cells {

/// A type of cells that are made of others; a type that is the child of one only is a leaf's.
struct Type {
  std::string name{};
  std::string child{};
  int children = 0;
  bool node = false;  ///< Exactly one type of a chain is.
};

/// A physical cell with all within, in the order of the free lists.
struct Place {
  std::string type{};
  std::string node{};    ///< Of a leaf.
  int leaf = -1;         ///< Of a leaf: its number in the node.
  std::string pinned{};  ///< Empty = it is not.
  std::vector<Place> within{};
};

/// What a virtual cluster owns.
struct Share {
  std::string vc{};
  std::string pinned{};  ///< One physical cell, by its name; empty = `cells` of a type, wherever.
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
  std::vector<std::string> types{};  ///< By level, as are the next three.
  std::vector<int> leaves{};         ///< In a cell.
  std::vector<int> children{};       ///< Of a cell.
  Levels cells{};
  int top() const { return static_cast<int>(types.size()) - 1; }
};

struct VirtualCluster {
  std::string name{};
  std::map<int, Levels> cells{};  ///< By chain, those that are not pinned.
  std::map<int, Levels> roots{};  ///< Of these the ones that are owned as a whole.
  std::map<std::string, Levels> pinned{};
  std::map<std::string, Cell*> pinned_to{};  ///< The physical cell.
};

/// A layout with its cells. Pointers to cells stay good when it is moved.
struct Cluster {
  std::vector<std::string> nodes{};
  std::vector<Chain> chains{};
  std::vector<VirtualCluster> vcs{};
  std::deque<Cell> cells{};

  /// -1 if there is none of the name, as with the next.
  int find_node(const std::string& name) const;
  int find_vc(const std::string& name) const;
};

/// Fails where the layout contradicts itself, and where virtual clusters own more than there is.
Result<Cluster> build(const Layout& layout);

}  // namespace almanac::cells
