// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/serving.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::policy {

Serving::Serving(std::unique_ptr<Policy> jobs,
                 std::vector<std::unique_ptr<inference::Scaler>> scalers)
    : jobs_(std::move(jobs)) {
  for (auto& scaler : scalers) services_.push_back({.scaler = std::move(scaler)});
}

void Serving::decide(std::span<const Event> events, const View& view, Plan& plan) {
  ALMANAC_CHECK(services_.size() == view.services.size(), "{} scalers for {} services",
                services_.size(), view.services.size());
  bool woken = false;
  for (; !wakes_.empty() && wakes_.top() <= view.now; wakes_.pop()) woken = true;
  told_.assign(events.begin(), events.end());
  if (!woken) std::erase_if(told_, [](const Event& e) { return e.kind == EventKind::timer; });
  if (!told_.empty()) {
    jobs_->decide(told_, view, plan);
    for (const Time wake : plan.wakes) wakes_.push(wake);
  }
  if (began_ == kNoTime) began_ = view.now;
  for (std::size_t each = 0; each < services_.size(); ++each) {
    Scaled& scaled = services_[each];
    if (scaled.next > view.now) continue;
    const Service& service = view.services[each];
    const ServiceId id{static_cast<std::uint32_t>(each)};
    if (service.load.over) {
      scaled.next = kNever;
      plan.scale(id, 0);
      continue;
    }
    const double since_us = 1e3 * static_cast<double>((view.now - began_).count());
    const int wanted =
        std::clamp(scaled.scaler->want(since_us, service.load), service.least, service.most);
    if (wanted != service.wanted) plan.scale(id, wanted);
    const auto period_ms = std::llround(scaled.scaler->period() / 1e3);
    scaled.next = view.now + std::max(Duration{1}, Duration{period_ms});
    plan.wake(scaled.next);
  }
}

}  // namespace almanac::policy
