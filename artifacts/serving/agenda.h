// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is going to happen, in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "inference/request.h"

namespace almanac::serving {

/// Events of `What`, an enumeration whose order breaks ties of time; of equal ones the one planned
/// first comes first. O(log events) each.
template <typename What>
class Agenda {
 public:
  struct Event {
    inference::Micros at;
    What what;
    std::uint32_t subject;
    std::uint64_t planned;  ///< Counts up: names the event too.
    bool operator>(const Event& other) const {
      if (at != other.at) return at > other.at;
      if (what != other.what) return what > other.what;
      return planned > other.planned;
    }
  };

  std::uint64_t plan(inference::Micros at, What what, std::uint32_t subject) {
    events_.push({at, what, subject, planned_});
    return planned_++;
  }
  bool empty() const { return events_.empty(); }
  const Event& next() const { return events_.top(); }
  Event pop() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t planned_ = 0;
};

}  // namespace almanac::serving
