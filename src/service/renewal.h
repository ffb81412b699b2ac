// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prepares the next policy in another thread: a different one, or the same one without what it
/// learned about old jobs. Preparing takes long; the deciding thread takes the result over between
/// two rounds.
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

/// Makes one Next at a time. For the deciding thread only.
template <typename Next>
class Renewal {
 public:
  struct Done {
    Result<Next> made;
    bool is_told;   ///< An operator asked for it; else it is a routine renewal.
    bool is_stale;  ///< Another policy has taken over meanwhile.
  };

  /// Rings `bell` when one is ready. `bell` must outlive it.
  explicit Renewal(process::Bell& bell) : bell_(bell) {}

  bool is_under_way() const { return making_.has_value(); }
  bool may_begin(Time now) const { return !is_under_way() && now >= again_; }
  /// Starts none before `time`.
  void put_off(Time time) { again_ = time; }
  /// Runs `make` in another thread. False if no thread can be created.
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
  /// Notes that another policy takes over, so that the result will be stale.
  void supersede() {
    if (making_) making_->is_stale = true;
  }
  /// Returns the result once; nothing while it is not ready.
  std::optional<Done> take() {
    if (!making_ || making_->made.wait_for(0s) != std::future_status::ready) return std::nullopt;
    Done done{making_->made.get(), making_->is_told, making_->is_stale};
    making_.reset();
    return done;
  }
  /// Destroys the former policy in the background, because it may have to finish a fit first.
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
