// SPDX-License-Identifier: Apache-2.0
#include "steer/past.h"

#include <condition_variable>
#include <utility>

#include <fmt/format.h>

#include "steer/stage.h"
#include "text/duration.h"

namespace almanac::steer {
namespace {

/// Pauses between two weeks of accounting, and between two looks whether there is more.
constexpr Duration kNextWeek = 5s;
constexpr Duration kFollow = 5min;

}  // namespace

Past::Past(const service::Clock& clock, store::Store& store, std::unique_ptr<manager::Link> link,
           Time back_to, accounting::VcFrom vc)
    : clock_(clock),
      link_(std::move(link)),
      import_(store, *link_, back_to, vc),
      thread_([this](const std::stop_token& stop) { follow(stop); }) {}

std::string Past::trouble() const {
  const std::lock_guard lock(mutex_);
  if (asked_ && clock_.monotonic() - *asked_ >= kAccounting.longest) {
    return fmt::format("{} has taken more than {}", kAccounting.doing,
                       text::format_duration(kAccounting.longest));
  }
  return trouble_;
}

void Past::follow(const std::stop_token& stop) {
  std::condition_variable_any bell;
  bool has_come = false;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    asked_ = clock_.monotonic();
    lock.unlock();
    const auto done = import_.step(clock_.wall());
    const bool all = done && done->done;
    if (all && !std::exchange(has_come, true)) has_come_ = true;
    lock.lock();
    asked_.reset();
    trouble_ = done ? "" : fmt::format("accounting: {}", to_string(done.error()));
    bell.wait_for(lock, stop, all || !done ? kFollow : kNextWeek, [] { return false; });
  }
}

}  // namespace almanac::steer
