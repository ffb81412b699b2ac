// SPDX-License-Identifier: Apache-2.0
#include "steer/past.h"

#include <condition_variable>
#include <utility>

#include <fmt/format.h>

#include "base/wall_clock.h"

namespace almanac::steer {
namespace {

/// Pauses between two weeks of accounting, and between two looks whether there is more.
constexpr Duration kNextWeek = 5s;
constexpr Duration kFollow = 5min;

}  // namespace

Past::Past(store::Store& store, std::unique_ptr<slurm::Link> link, Time back_to,
           learning::VcFrom vc)
    : link_(std::move(link)),
      import_(store, *link_, back_to, vc),
      thread_([this](const std::stop_token& stop) { follow(stop); }) {}

std::string Past::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Past::follow(const std::stop_token& stop) {
  std::condition_variable_any bell;
  bool has_come = false;
  while (!stop.stop_requested()) {
    const auto done = import_.step(wall_clock());
    const bool all = done && done->done;
    if (all && !std::exchange(has_come, true)) has_come_ = true;
    std::unique_lock lock(mutex_);
    trouble_ = done ? "" : fmt::format("accounting: {}", to_string(done.error()));
    bell.wait_for(lock, stop, all || !done ? kFollow : kNextWeek, [] { return false; });
  }
}

}  // namespace almanac::steer
