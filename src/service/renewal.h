// SPDX-License-Identifier: Apache-2.0

/// \file
/// What decides begins anew: another policy, or the same one again without what it has learned of
/// jobs that are gone. Making it takes long, so a thread of its own does; the deciding thread takes
/// it over between two rounds.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/retirement.h"
#include "base/time.h"
#include "process/bell.h"

namespace almanac::service {

/// Makes one Next at a time. Not thread-safe: of the deciding thread.
template <typename Next>
class Renewal {
 public:
  struct Done {
    Result<Next> made;
    bool is_told;   ///< Somebody asked for it; else it is a renewal for its own sake.
    bool is_stale;  ///< Another has taken over meanwhile.
  };

  /// Rings `bell`, which must outlive it, when one is made.
  explicit Renewal(process::Bell& bell) : bell_(bell) {}

  bool is_under_way() const { return making_.has_value(); }
  bool may_begin(Time now) const { return !is_under_way() && now >= again_; }
  /// Begins none before `time`.
  void put_off(Time time) { again_ = time; }
  /// Has `make` done by another thread. False = no thread is to be had.
  bool begin(std::function<Result<Next>()> make, bool is_told) {
    try {
      std::promise<Result<Next>> promise;
      Making making{.is_told = is_told, .made = promise.get_future()};
      making.thread = std::async(
          std::launch::async,
          [promise = std::move(promise), make = std::move(make), bell = &bell_]() mutable {
            promise.set_value(make());
            bell->ring();
          });
      making_ = std::move(making);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  /// Another takes over: what is being made will be of the past.
  void supersede() {
    if (making_) making_->is_stale = true;
  }
  /// What was made, once; nothing = it is not made yet.
  std::optional<Done> take() {
    if (!making_ || making_->made.wait_for(0s) != std::future_status::ready) return std::nullopt;
    Done done{making_->made.get(), making_->is_told, making_->is_stale};
    making_.reset();
    return done;
  }
  /// Ends what decided before, which ends with the fit that it is at, where nobody waits for that.
  template <typename Former>
  void retire(Former former) {
    retirement_.take(std::move(former));
  }

 private:
  struct Making {
    bool is_told = false;
    bool is_stale = false;
    std::future<Result<Next>> made{};
    std::future<void> thread{};
  };
  process::Bell& bell_;
  Time again_{};
  std::optional<Making> making_;
  Retirement retirement_;
};

}  // namespace almanac::service
