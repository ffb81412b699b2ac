// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that the policy does not see yet, grouped by what they wait for.
///
/// An event opens one group, so the service need not search all jobs for the few that the event
/// concerns.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "base/time.h"
#include "store/job.h"

namespace almanac::machine {

/// What a job waits for before the policy sees it.
struct WaitsFor {
  enum class What : std::uint8_t {
    nothing,  ///< The policy sees it, it runs, or it has ended.
    a_look,   ///< New, or what it waited for has happened.
    release,  ///< A user holds it.
    time,     ///< Key: start time in ms.
    others,   ///< Key: Prerequisites::List.
    /// The previous job of the same user and name. Key: the number of that job.
    namesake,
    array,        ///< Other tasks of its array. Key: the array's number.
    maintenance,  ///< It would not end before maintenance starts.
    account,      ///< The system does not know its user. Key: the user id.
  };
  What what = What::nothing;
  std::int64_t key = 0;

  auto operator<=>(const WaitsFor&) const = default;
};

class Anteroom {
 public:
  /// Moves a job from one group to another. Cost: O(log n).
  void move(store::JobNumber job, WaitsFor from, WaitsFor to) {
    if (from == to) return;
    if (from.what != WaitsFor::What::nothing) {
      const auto room = rooms_.find(from);
      room->second.erase(job);
      if (room->second.empty()) rooms_.erase(room);
    }
    if (to.what != WaitsFor::What::nothing) rooms_[to].insert(job);
  }
  /// In order of number.
  const std::set<store::JobNumber>& in(WaitsFor room) const {
    static const std::set<store::JobNumber> none;
    const auto found = rooms_.find(room);
    return found == rooms_.end() ? none : found->second;
  }
  /// Returns when the first job that waits for a time may continue; kNever if there is none.
  Time next_time() const {
    const auto first = rooms_.lower_bound({WaitsFor::What::time, INT64_MIN});
    const bool is_time = first != rooms_.end() && first->first.what == WaitsFor::What::time;
    return is_time ? Time{Duration{first->first.key}} : kNever;
  }

 private:
  std::map<WaitsFor, std::set<store::JobNumber>> rooms_;
};

}  // namespace almanac::machine
