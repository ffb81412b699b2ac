// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fill experiment: pods arrive at a cluster and none leaves; one that does not fit is dropped.
///
/// Source   Weng et al., ATC'23 (FGD), section 6, and the program published with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "fragment/mix.h"
#include "fragment/node.h"
#include "fragment/rule.h"

namespace almanac::fragment {

/// A cluster that fills. Remembers what each kind of request scores on each node, and looks again
/// only at nodes that have changed since: about 10 us a pod on 1,523 nodes.
class Fill {
 public:
  /// `ranks`: a number a node; of equal scores the lowest wins. `mix` and `rule` outlive this.
  Fill(std::span<const Node> nodes, std::span<const std::int32_t> ranks, const Mix& mix,
       const Rule& rule, std::uint64_t seed = 0);

  struct Place {
    std::size_t node;
    Gpus gpus;
  };
  /// Takes what `request` asks where the rule says; nothing = it fits nowhere.
  std::optional<Place> place(const Request& request);

  /// As they are now, in the order given.
  const Node& node(std::size_t node) const { return nodes_[position_[node]]; }
  std::size_t size() const { return nodes_.size(); }
  /// Thousandths of GPUs that are expected to be of no use, over all nodes. Cost: O(nodes).
  double unusable();

 private:
  struct Scores {
    Request request;
    std::size_t seen = 0;                // of changes_
    std::vector<std::int32_t> scores{};  // by position; kNoFit
  };
  static constexpr std::int32_t kNoFit = -1;

  Scores& scores_of(const Request& request);
  void refresh(Scores& scores);
  std::int32_t score(std::size_t at, const Request& request);
  double unusable_at(std::size_t at);
  std::optional<std::size_t> best(const Scores& scores);
  Gpus draw_gpus(const Node& node, const Request& request);

  std::vector<Node> nodes_;               // by rank
  std::vector<std::size_t> given_;        // position -> as given
  std::vector<std::size_t> position_;     // and back
  std::vector<double> unusable_;          // by position; NaN = not known
  std::vector<std::size_t> changes_;      // positions, in order of change
  std::vector<std::size_t> last_change_;  // position -> the last of its changes, counted from 1
  std::vector<Scores> kinds_;
  const Mix* mix_;
  const Rule* rule_;
  Rng rng_;
};

}  // namespace almanac::fragment
