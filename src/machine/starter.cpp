// SPDX-License-Identifier: Apache-2.0
#include "machine/starter.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac::machine {
namespace {

/// A process that was started is looked at again after so long.
constexpr Duration kNextLook = 100ms;

}  // namespace

void Starter::begins(store::JobNumber job, Time now) {
  if (!is_failing()) return;
  tried_ = job;
  tried_at_ = now;
}

void Starter::has_process(Time now) {
  if (is_failing()) again_ = now + kNextLook;
}

bool Starter::has_begun(bool command_runs, Time now) {
  constexpr Duration kLives = 5s;
  if (command_runs || now >= tried_at_ + kLives) return true;
  again_ = now + kNextLook;
  return false;
}

std::optional<Duration> Starter::failed(store::JobNumber job, const std::string& why, Time now) {
  constexpr Duration kAtMost = 1min;
  constexpr int kDoublings = 6;
  if (is_failing() && tried_ != job) return std::nullopt;
  const Duration pause = std::min(Duration{1s} * (1 << std::min(failures_, kDoublings)), kAtMost);
  ++failures_;
  tried_.reset();
  again_ = now + pause;
  trouble_ = fmt::format("jobs cannot be started, after {} tries: {}", failures_, why);
  return pause;
}

void Starter::works() {
  if (tried_) jobs.worked(*tried_);
  failures_ = 0;
  tried_.reset();
  trouble_.clear();
}

}  // namespace almanac::machine
