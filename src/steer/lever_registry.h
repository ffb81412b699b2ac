// SPDX-License-Identifier: Apache-2.0

/// \file
/// All levers. Each is one file of the folder lever/, which the build finds, and registers itself
/// with its priority.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steer/lever.h"
#include "steer/slimmer.h"

namespace almanac::steer {

/// Returns the nodes with an agent that reports.
using Present = std::function<std::set<std::string>()>;

/// What levers may read in addition to the scene. Everything it refers to must outlive them.
struct LeverParts {
  const Slimmer& slimmer;  ///< What jobs use, and which ones could do with fewer cores.
  Present present;         ///< Empty if the service listens for no agents.
};

class LeverRegistry {
 public:
  struct Entry {
    std::string name;  ///< "order".
    /// If the manager can take only some of the changes, those of the lever with the highest
    /// priority go first. No two levers have the same one.
    int priority;
    std::function<std::unique_ptr<Lever>(const LeverParts&)> make;
  };

  void add(Entry entry);
  /// Lowest priority first.
  const std::vector<Entry>& entries() const { return entries_; }
  /// `name` must be that of a lever.
  std::unique_ptr<Lever> make(std::string_view name, const LeverParts& parts) const;

 private:
  std::vector<Entry> entries_;
};

/// All levers, registered at first use.
const LeverRegistry& levers();

namespace lever {
/// Generated: calls each register_ function of the folder.
void register_lever(LeverRegistry& registry);
}  // namespace lever

}  // namespace almanac::steer
