// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes suit a waiting job, apart from room: those of its partition, those that it names
/// (`-w`), except those that it excludes (`-x`), with its features. Policies do not know about
/// these, so their plans are checked here.
///
/// Features in brackets or with counts, which Slurm distributes over nodes in its own way, are not
/// checked, nor are the nodes of a job that requests part of a GPU.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/ledger.h"
#include "steer/world.h"

namespace almanac::steer {

/// Whether a node with features `own` ("a,b") has the requested features ("a&b", "a|b"); nothing if
/// that cannot be checked.
std::optional<bool> has_features(const std::string& own, const std::string& asked);

/// For one look at a cluster, which must outlive it.
class Suitable {
 public:
  Suitable(const Mirror& mirror, const World& world) : mirror_(mirror), world_(world) {}

  /// Whether a job has any request about nodes. Nodes that Almanac chose for it do not count.
  static bool is_choosy(const manager::Job& job);
  /// Whether it names nodes itself; such a job is left to the manager.
  static bool names_nodes(const manager::Job& job);
  /// Whether the manager would start it on these nodes.
  bool suits(const manager::Job& job, std::span<const cluster::Grant> held);
  /// Takes `total` for a job from `ledger`, on as few nodes as possible; empty if there is no room.
  /// Cost: O(nodes) for each possible number of nodes.
  std::vector<cluster::Grant> take(const manager::Job& job, const cluster::Amount& total,
                                   cluster::Ledger& ledger);
  /// Whether the nodes that suit a job have `total` free or, with `ever`, in service.
  bool has_room(const manager::Job& job, const cluster::Amount& total,
                const cluster::Ledger& ledger, bool ever);

 private:
  struct Choice {
    std::vector<NodeId> nodes{};  // those that it names first
    std::size_t named = 0;
    bool is_possible = true;  // false if it names a node that does not suit it
  };
  struct Piece {
    NodeId node{};
    cluster::Amount amount{};
  };

  const Choice& choice_of(const manager::Job& job);
  bool may_run(const manager::Job& job, const manager::Node& node) const;
  /// Spreads `total` over nodes with the given `room`; empty if it does not fit.
  template <typename Room>
  std::vector<Piece> lay(const manager::Job& job, const cluster::Amount& total, const Room& room);

  const Mirror& mirror_;
  const World& world_;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, Choice>
      choices_;  // by partition, nodes named, nodes ruled out, features, type of GPU
};

}  // namespace almanac::steer
