// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forgets history that is older than it is kept, by a clock that is not believed everything: one
/// start with a clock years ahead must not cost years of history.
///
/// What is believed follows the clock while that goes in steps of at most 30 days. Where it jumps
/// further the history stays, a warning says so, and what is believed moves by two days a day: a
/// machine that was off for months comes after, and a wrong clock is noticed first.
#pragma once

#include <future>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "service/outbox.h"
#include "store/store.h"

namespace almanac::machine {

/// Times since boot are by a clock that nobody sets.
class Forgetting {
 public:
  /// Jobs that ended go after `retention`, their environments after `environments`. The store and
  /// the outbox must outlive it.
  Forgetting(store::Store& store, service::Outbox& outbox, Duration retention,
             Duration environments)
      : store_(store), outbox_(outbox), retention_(retention), environments_(environments) {}

  /// Forgets what is due. Fails as the store does.
  Result<void> begin(Time now, Duration since_boot);
  /// Forgets from time to time, in a thread of its own. Returns whether that has begun now.
  bool go_on(Time now, Duration since_boot);
  /// What is wrong with the clock; "" = nothing.
  const std::string& clock_trouble() const { return clock_trouble_; }

 private:
  /// Moves the time that is believed towards the clock's; by at most `most` where that is far
  /// ahead.
  void believe_clock(Time now, Duration most);

  store::Store& store_;
  service::Outbox& outbox_;
  Duration retention_;
  Duration environments_;
  Time believed_{};             // by which history is forgotten
  Duration forget_at_{};        // since boot
  Duration environments_at_{};  // likewise
  std::string clock_trouble_;
  std::future<void> sweep_;
};

}  // namespace almanac::machine
