// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order in which the jobs in the queue stand.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/queue.h"
#include "machine/state.h"
#include "service/clock.h"

namespace almanac::machine {

/// Under the lock of `State`. Of very many jobs the line may be some tenths of a second old, and
/// lack the latest.
class Line {
 public:
  Line(const State& state, const Queue& queue) : state_(state), queue_(queue) {}

  /// The place of each job in the line of its virtual cluster, from 1; 0 = it stands in none. By
  /// JobId.
  const std::vector<std::int64_t>& places() const;
  std::int64_t place_of(JobId job) const;
  /// The waiting jobs of which a forecast is made.
  std::vector<const Entry*> first_jobs() const;

  /// The queue has changed.
  void invalidate() { has_changed_ = true; }
  /// Another policy has begun.
  void reset();

 private:
  const State& state_;
  const Queue& queue_;
  mutable std::vector<std::int64_t> places_;
  mutable bool has_changed_ = true;
  mutable service::Clock::Instant good_until_{};
};

}  // namespace almanac::machine
