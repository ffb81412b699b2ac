// SPDX-License-Identifier: Apache-2.0
#include "machine/forgetting.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/step_back.h"
#include "service/log.h"

namespace almanac::machine {
namespace {

constexpr const char* kBelievedKey = "history_until_ms";
constexpr Duration kPlausible = 24h * 30;
constexpr Duration kCrawl = 24h * 2;
constexpr Duration kSweep = 24h;
constexpr Duration kSweepOfEnvironments = 10min;

}  // namespace

void Forgetting::believe_clock(Time now, Duration most) {
  const Duration step = now - believed_;
  if (step <= kPlausible) {
    believed_ = std::max(believed_, now);
    clock_trouble_.clear();
  } else {
    clock_trouble_ = fmt::format(
        "the clock is {} days after the last recorded time: no history is deleted because of it",
        step / 24h);
    service::log_warning(fmt::format("{} (check the clock)", clock_trouble_));
    believed_ += most;
  }
  outbox_.set(kBelievedKey, std::to_string(believed_.time_since_epoch().count()));
}

Result<void> Forgetting::begin(Time now, Duration since_boot) {
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
    believed_ = last->empty() ? now : last->front().end;
  }
  believe_clock(now, Duration{0});
  forget_at_ = since_boot + kSweep;
  environments_at_ = since_boot;
  const auto gone = store_.forget(believed_ - retention_);
  if (!gone) return tl::unexpected(gone.error());
  return {};
}

bool Forgetting::go_on(Time now, Duration since_boot) {
  if (since_boot < std::min(forget_at_, environments_at_)) return false;
  const bool is_busy = sweep_.valid() && sweep_.wait_for(0s) != std::future_status::ready;
  if (is_busy) return false;
  environments_at_ = since_boot + kSweepOfEnvironments;
  std::optional<Time> before;
  if (since_boot >= forget_at_) {
    forget_at_ = since_boot + kSweep;
    believe_clock(now, kCrawl);
    before = believed_ - retention_;
  }
  try {
    sweep_ = std::async(std::launch::async, [this, before, environments = now - environments_] {
      step_back();
      if (const auto gone = store_.forget_environments(environments); !gone) {
        service::log_warning(to_string(gone.error()));
      }
      if (!before) return;
      if (const auto gone = store_.forget(*before); !gone)
        service::log_warning(to_string(gone.error()));
    });
  } catch (const std::system_error&) {
    // No thread is to be had: the next sweep does it.
  }
  return true;
}

}  // namespace almanac::machine
