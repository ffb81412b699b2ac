// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy of a Slurm begun anew: what it believes is learned from the store, which takes long,
/// and it takes over between two decisions. Jobs that end meanwhile are lessons of the one before
/// only, until the next time.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "base/wall_clock.h"
#include "service/log.h"
#include "service/notify.h"
#include "steer/slurm_service.h"

namespace almanac::steer {

namespace {

/// Where no thread was to be had, or the store could not be read.
constexpr Duration kTryAgain = 1min;

}  // namespace

void SlurmService::make_aside() {
  const bool is_told = renew_;
  // A file that has changed is read only where an operator asks for that.
  auto chosen = is_told ? compose(overview().policy) : Result<Chosen>(decider_->policy());
  const auto make = [this, chosen = std::move(chosen)]() -> Result<std::unique_ptr<Decider>> {
    step_back();
    if (!chosen) return tl::unexpected(chosen.error());
    return make_decider(*chosen);
  };
  if (!renewal_.begin(make, is_told)) return renewal_.put_off(wall_clock() + kTryAgain);
  renew_ = false;
  if (is_told) service::tell_reloading();
}

void SlurmService::renew_decider() {
  if (!renewal_.is_under_way()) {
    const bool is_worn = decider_->learned() >= config_.most_ended;
    if ((renew_ || is_worn) && renewal_.may_begin(wall_clock())) make_aside();
    return;
  }
  auto done = renewal_.take();
  if (!done) return;
  const std::string policy = overview().policy;
  if (!done->made) {
    renewal_.put_off(wall_clock() + kTryAgain);
    service::log_error(
        fmt::format("policy {} stays as it was: {}", policy, to_string(done->made.error())));
  } else if (!done->is_stale) {
    {
      const std::lock_guard lock(mutex_);
      std::swap(decider_, *done->made);
      // Else it is the same, and what it has found out about cores need not be found out again.
      if (done->is_told) slimmer_->decide_by(decider_->policy().slimming);
      look_again_ = true;
    }
    if (done->is_told) service::log_info(fmt::format("policy {} was read anew", policy));
    // It ends with the fit that it is at.
    renewal_.retire(std::move(*done->made));
  }
  if (done->is_told) service::tell_ready(fmt::format("policy {}", policy));
}

}  // namespace almanac::steer
