// SPDX-License-Identifier: Apache-2.0

/// \file
/// Numbers the distinct demands of a run, so that jobs with equal demands can be filed together.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "cluster/ledger.h"

namespace almanac::cluster {

/// Ids are dense and in order of first mention. O(1).
class DemandTable {
 public:
  DemandId id_of(const Demand& demand);
  const Demand& operator[](DemandId id) const { return demands_[index(id)]; }
  const std::vector<Demand>& all() const { return demands_; }

 private:
  struct Hash {
    std::size_t operator()(const Demand& demand) const;
  };

  std::vector<Demand> demands_;
  std::unordered_map<Demand, DemandId, Hash> ids_;
  std::vector<std::uint32_t> plain_;  // id + 1 by number of GPUs, for demands that request nothing
                                      // else
};

}  // namespace almanac::cluster
