// SPDX-License-Identifier: Apache-2.0
#include "service/loop.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <poll.h>

namespace almanac::service {

Loop::Loop(Cluster& cluster, process::Bell& bell, Watchdog& watchdog, Sleep sleep)
    : cluster_(cluster), bell_(bell), watchdog_(watchdog), sleep_(std::move(sleep)) {}

void Loop::run(const std::atomic<bool>& stop) {
  while (!stop) {
    while (!stop && step()) watchdog_.alive();
    watchdog_.alive();
    if (stop) break;
    std::vector<int> sources = cluster_.sources();
    sources.push_back(bell_.get());
    sleep_(sources, std::min(cluster_.rest(), watchdog_.patience()));
    bell_.hush();
  }
  cluster_.close();
}

bool Loop::step() {
  cluster_.renew(reload_.exchange(false));
  cluster_.take_requests();
  const bool answers = cluster_.look();
  if (answers) cluster_.decide();
  cluster_.keep();
  const bool has_more = answers && cluster_.act();
  cluster_.finish();
  return has_more;
}

void Loop::reload() {
  reload_ = true;
  wake();
}

void Loop::sleep_in_poll(const std::vector<int>& sources, Duration at_most) {
  std::vector<pollfd> polled;
  for (const int source : sources) polled.push_back({source, POLLIN, 0});
  constexpr Duration kMost{std::numeric_limits<int>::max()};
  ::poll(polled.data(), polled.size(), static_cast<int>(std::min(at_most, kMost).count()));
}

}  // namespace almanac::service
