// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forgets history that is older than it is kept, by a clock that is not believed everything: one
/// start with a clock years ahead must not cost years of history.
///
/// What is believed follows the clock while that goes in steps of at most kPlausible. Where it
/// jumps further the history stays, a warning says so, and what is believed moves by kCrawl a day:
/// a machine that was off for months comes after, and a wrong clock is noticed first.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/step_back.h"
#include "live/core.h"
#include "live/log.h"
#include "shepherd/record.h"

namespace almanac::live {
namespace {

constexpr const char* kBelievedKey = "history_until_ms";
constexpr Duration kPlausible = 24h * 30;
constexpr Duration kCrawl = 24h * 2;
constexpr Duration kSweep = 24h;

}  // namespace

void Core::believe_clock(Duration most) {
  const Duration step = now_ - believed_;
  if (step <= kPlausible) {
    believed_ = std::max(believed_, now_);
    clock_trouble_.clear();
  } else {
    clock_trouble_ = fmt::format(
        "the clock is {} days after the last that was recorded: no history is forgotten by it",
        step / 24h);
    log_warning(fmt::format("{} (is it right?)", clock_trouble_));
    believed_ += most;
  }
  values_[kBelievedKey] = std::to_string(believed_.time_since_epoch().count());
}

Result<void> Core::begin_forgetting() {
  const auto kept = store_.get(kBelievedKey);
  if (!kept) return tl::unexpected(kept.error());
  const auto last = store_.jobs({.last_ended_first = true, .limit = 1});
  if (!last) return tl::unexpected(last.error());
  std::int64_t since_epoch_ms = 0;
  if (*kept &&
      std::from_chars((*kept)->data(), (*kept)->data() + (*kept)->size(), since_epoch_ms).ec ==
          std::errc()) {
    believed_ = Time{Duration{since_epoch_ms}};
  } else {
    believed_ = last->empty() ? now_ : last->front().end;
  }
  believe_clock(Duration{0});
  forget_at_ = shepherd::since_boot() + kSweep;
  forget_secrets_at_ = shepherd::since_boot();
  const auto gone = store_.forget(believed_ - config_.retention);
  if (!gone) return tl::unexpected(gone.error());
  return {};
}

void Core::go_on_forgetting() {
  constexpr Duration kSecretsSweep = 10min;
  if (shepherd::since_boot() < std::min(forget_at_, forget_secrets_at_)) return;
  // Nobody who looked up so long ago is still to be answered.
  std::erase_if(moved_, [&](const auto& each) {
    return each.second < shepherd::since_boot() - kSecretsSweep;
  });
  const bool is_busy = forgetting_.valid() && forgetting_.wait_for(0s) != std::future_status::ready;
  if (is_busy) return;
  forget_secrets_at_ = shepherd::since_boot() + kSecretsSweep;
  std::optional<Time> before;
  if (shepherd::since_boot() >= forget_at_) {
    forget_at_ = shepherd::since_boot() + kSweep;
    believe_clock(kCrawl);
    before = believed_ - config_.retention;
  }
  try {
    forgetting_ =
        std::async(std::launch::async, [this, before, secrets = now_ - config_.requeue_for] {
          step_back();
          if (const auto gone = store_.forget_environments(secrets); !gone) {
            log_warning(to_string(gone.error()));
          }
          if (!before) return;
          if (const auto gone = store_.forget(*before); !gone) log_warning(to_string(gone.error()));
        });
  } catch (const std::system_error&) {
    // No thread is to be had: the next sweep does it.
  }
}

}  // namespace almanac::live
