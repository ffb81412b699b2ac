// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which quota keeps a workload from being admitted.
#pragma once

#include <string>
#include <vector>

#include "kueue/world.h"

namespace almanac::kueue {

/// A flavor of the workload's queue that it cannot have now, for one resource.
struct Shortage {
  enum class Why : std::uint8_t {
    unsuited,         ///< Labels or taints of the flavor keep its pods out.
    not_covered,      ///< The queue has no quota of the resource; no flavor is named.
    too_large,        ///< It needs more than the queue could have if nothing ran.
    queue_quota,      ///< The queue belongs to no cohort and its nominal quota is used.
    cohort_quota,     ///< The queue's quota and that of its cohort are used.
    borrowing_limit,  ///< The queue, or a cohort above it, may borrow no more.
  };
  Why why{};
  std::string resource{};
  std::string flavor{};
  Amount wanted = 0;  ///< By all pods together.
  Amount left = 0;
  Amount most = 0;       ///< What the queue could have if nothing ran.
  std::string holder{};  ///< "ClusterQueue team-a" or "cohort research": whose quota or limit it
                         ///< is.
  Amount used = 0;       ///< By the holder and all below it.
  Amount quota = 0;      ///< Of the holder and all below it.
  Amount limit = 0;      ///< Borrowing limit of the holder, for `borrowing_limit`.

  /// Whether no end of another workload helps.
  bool is_for_ever() const {
    return why == Why::unsuited || why == Why::not_covered || why == Why::too_large;
  }
};

/// Returns what is short for a workload, by flavor in the order of the queue. Empty if some flavor
/// of each resource group has room: then it only waits for its turn.
std::vector<Shortage> shortages_of(const World& world, const Workload& workload);

/// Returns a clause: "flavor h100: needs 16 nvidia.com/gpu, 3 left; cohort research uses 61 of its
/// 64".
std::string to_string(const Shortage& shortage);

}  // namespace almanac::kueue
