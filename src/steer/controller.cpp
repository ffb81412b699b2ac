// SPDX-License-Identifier: Apache-2.0
#include "steer/controller.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "service/log.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::steer {

void Controller::wait_for(const Stage& stage, const std::function<void()>& act) {
  bool is_said = false;
  const Duration pause = std::min<Duration>(watchdog_.patience(), 1s);
  steer::wait_for(stage, known_.clock, act, pause, [&](bool is_late) {
    if (!is_late) {
      watchdog_.alive();
    } else if (!std::exchange(is_said, true)) {
      const std::lock_guard lock(known_.mutex);
      failure_ = fmt::format("{} has taken more than {}", stage.doing,
                             text::format_duration(stage.longest));
      service::log_error(failure_);
    }
    meanwhile_();
  });
}

Result<manager::News> Controller::ask_news() {
  const auto begun = known_.clock.monotonic();
  Result<manager::News> news;
  {
    const std::lock_guard lock(known_.mutex);
    asked_at_ = begun;
  }
  wait_for(kAsking, [&] { news = link_->news(); });
  const std::lock_guard lock(known_.mutex);
  asked_at_.reset();
  news_s_ = known_.clock.seconds_since(begun);
  if (news) {
    if (!failure_.empty()) service::log_info("the controller answers again");
    failure_.clear();
    return news;
  }
  if (failure_.empty()) {
    service::log_warning(fmt::format("the controller does not answer, all levers rest: {}",
                                     to_string(news.error())));
    ++known_.revision;
  }
  failure_ = to_string(news.error());
  return news;
}

Duration Controller::pause() const {
  constexpr Duration kLongest = 30s;
  const Duration poll = known_.config.settings.poll;
  const std::lock_guard lock(known_.mutex);
  if (!failure_.empty()) return std::min(kLongest, 5 * poll);
  const auto took = Duration{std::llround(news_s_ * 1e3)};
  return std::clamp<Duration>(4 * took, poll, kLongest);
}

std::string Controller::trouble() const {
  if (!failure_.empty() || !asked_at_) return failure_;
  const auto waited = std::chrono::floor<Duration>(known_.clock.monotonic() - *asked_at_);
  if (waited < known_.config.silence) return {};
  return fmt::format("the controller has not answered for {}", text::human_time(seconds(waited)));
}

}  // namespace almanac::steer
