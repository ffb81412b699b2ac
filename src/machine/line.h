// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order of the jobs in the queue.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/queue.h"
#include "machine/state.h"
#include "service/clock.h"

namespace almanac::machine {

/// Requires the lock of `State`. With very many jobs, the order may be some tenths of a second old
/// and lack the newest jobs.
class Line {
 public:
  Line(const State& state, const Queue& queue) : state_(state), queue_(queue) {}

  /// Returns the position of each job in the queue of its virtual cluster, from 1; 0 if it is in
  /// none. Indexed by JobId.
  const std::vector<std::int64_t>& places() const;
  std::int64_t place_of(JobId job) const;
  /// Returns the waiting jobs to forecast.
  std::vector<const Entry*> first_jobs() const;

  /// Marks the order as out of date.
  void invalidate() { has_changed_ = true; }
  /// Starts over for another policy.
  void reset();

 private:
  const State& state_;
  const Queue& queue_;
  mutable std::vector<std::int64_t> places_;
  mutable bool has_changed_ = true;
  mutable service::Clock::Instant good_until_{};
};

}  // namespace almanac::machine
