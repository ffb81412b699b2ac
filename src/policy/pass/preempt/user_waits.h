// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long each user's jobs have waited in all, and how long they would have under EASY. A
/// job counts once the latter is known.
///
/// A user with few jobs, all of them large, gains nothing from short jobs that go first. So the
/// mean wait of a user is bounded by that under EASY, or by `grace` if that is longer.
///
/// Source   ours.
#pragma once

#include <algorithm>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::policy {

class UserWaits {
 public:
  explicit UserWaits(Duration grace) : grace_(grace) {}

  /// Adds the wait that a job of the user would have had under EASY.
  void would_have_waited(NameId user, Duration wait) {
    Waits& waits = of(user);
    waits.allowed += std::max(wait, Duration{0});
    waits.jobs += 1;
  }
  void waited(NameId user, Duration wait) { of(user).real += wait; }

  /// Returns how much longer the jobs of a user may wait in total; after would_have_waited() only.
  /// Negative if they have waited for too long.
  Duration left(NameId user) const {
    const Waits& waits = users_[index(user)];
    return std::max(waits.allowed, waits.jobs * grace_) - waits.real;
  }

 private:
  struct Waits {
    Duration allowed{0};  // under EASY, of jobs of which that is known
    Duration real{0};
    int jobs = 0;
  };

  Waits& of(NameId user) {
    if (index(user) >= users_.size()) users_.resize(index(user) + 1);
    return users_[index(user)];
  }

  Duration grace_;
  std::vector<Waits> users_;
};

}  // namespace almanac::policy
