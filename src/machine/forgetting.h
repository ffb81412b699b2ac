// SPDX-License-Identifier: Apache-2.0

/// \file
/// Deletes history older than the retention time without trusting the clock: one start with a clock
/// that is years ahead must not delete years of history.
///
/// The trusted time follows the clock while the clock advances by at most 30 days at once. If the
/// clock jumps further, history is kept, a warning gives the reason, and the trusted time advances
/// by two days per day. So a machine that was off for months catches up, and an operator notices a
/// wrong clock first.
#pragma once

#include <future>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "service/outbox.h"
#include "store/store.h"

namespace almanac::machine {

/// Times since boot come from a clock that cannot be set.
class Forgetting {
 public:
  /// Deletes jobs `retention` after their end, and their environments after `environments`. The
  /// store and the outbox must outlive it.
  Forgetting(store::Store& store, service::Outbox& outbox, Duration retention,
             Duration environments)
      : store_(store), outbox_(outbox), retention_(retention), environments_(environments) {}

  /// Deletes everything that is due. Fails if the store fails.
  Result<void> begin(Time now, Duration since_boot);
  /// Deletes periodically, in a thread of its own. Returns whether it has started to now.
  bool go_on(Time now, Duration since_boot);
  /// Why the clock is not trusted; "" if it is.
  const std::string& clock_trouble() const { return clock_trouble_; }

 private:
  /// Moves the trusted time towards the clock's, by at most `most` if the clock is far ahead.
  void believe_clock(Time now, Duration most);

  store::Store& store_;
  service::Outbox& outbox_;
  Duration retention_;
  Duration environments_;
  Time believed_{};             // the trusted time
  Duration forget_at_{};        // since boot
  Duration environments_at_{};  // likewise
  std::string clock_trouble_;
  std::future<void> sweep_;
};

}  // namespace almanac::machine
