// SPDX-License-Identifier: Apache-2.0

/// \file
/// A store of blocks of KV by their content, the least recently used forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace almanac::serving {

/// Source   Qin et al., FAST'25 (Mooncake), section 6.
class BlockPool {
 public:
  using Id = std::uint64_t;
  /// `capacity` blocks; 0 = as many as come.
  explicit BlockPool(std::size_t capacity) : capacity_(capacity) {}

  /// How many leading blocks of `ids` are there. Then all of them are, the last used last.
  /// O(ids).
  std::size_t use(std::span<const Id> ids) {
    std::size_t hits = 0;
    while (hits < ids.size() && places_.contains(ids[hits])) ++hits;
    for (const Id id : ids) {
      const auto [place, is_new] = places_.try_emplace(id);
      if (!is_new) order_.erase(place->second);
      place->second = order_.insert(order_.end(), id);
      if (capacity_ == 0 || places_.size() <= capacity_) continue;
      places_.erase(order_.front());
      order_.pop_front();
    }
    return hits;
  }

 private:
  std::size_t capacity_;
  std::list<Id> order_;  // the least recently used first
  std::unordered_map<Id, std::list<Id>::iterator> places_;
};

}  // namespace almanac::serving
