// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy of a Slurm begun anew: what it believes is learned from the store, which takes long,
/// and it takes over between two decisions. Jobs that end meanwhile are lessons of the one before
/// only, until the next time.
#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "base/wall_clock.h"
#include "live/log.h"
#include "live/notify.h"
#include "steer/slurm_service.h"

namespace almanac::steer {

namespace {

/// Where no thread was to be had, or the store could not be read.
constexpr Duration kTryAgain = 1min;

}  // namespace

void SlurmService::make_aside() {
  const bool is_told = renew_;
  std::string policy = overview().policy;
  // A file that has changed is read only where an operator asks for that.
  auto chosen = is_told ? compose(policy) : Result<Chosen>(decider_->policy());
  try {
    auto made = std::async(std::launch::async, [this, chosen = std::move(chosen)] {
      step_back();
      return chosen ? make_decider(*chosen)
                    : Result<std::unique_ptr<Decider>>(tl::unexpected(chosen.error()));
    });
    making_.emplace(Making{std::move(policy), is_told, std::move(made)});
    renew_ = false;
    if (is_told) live::tell_reloading();
  } catch (const std::system_error&) {
    make_again_ = wall_clock() + kTryAgain;
  }
}

void SlurmService::renew_decider() {
  if (!making_) {
    const bool is_worn = decider_->learned() >= config_.most_ended;
    if ((renew_ || is_worn) && wall_clock() >= make_again_) make_aside();
    return;
  }
  if (making_->decider.wait_for(0s) != std::future_status::ready) return;
  Making done = std::move(*making_);
  making_.reset();
  auto made = done.decider.get();
  if (!made) {
    make_again_ = wall_clock() + kTryAgain;
    live::log_error(
        fmt::format("policy {} stays as it was: {}", done.policy, to_string(made.error())));
  } else if (done.policy == overview().policy) {
    {
      const std::lock_guard lock(mutex_);
      std::swap(decider_, *made);
      // Else it is the same, and what it has found out about cores need not be found out again.
      if (done.is_told) slimmer_->decide_by(decider_->policy().slimming);
      look_again_ = true;
    }
    if (done.is_told) live::log_info(fmt::format("policy {} was read anew", done.policy));
    // It ends with the fit that it is at.
    retirement_.take(std::move(*made));
  }
  if (done.is_told) live::tell_ready(fmt::format("policy {}", done.policy));
}

}  // namespace almanac::steer
