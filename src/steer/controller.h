// SPDX-License-Identifier: Apache-2.0

/// \file
/// The controller of a managed cluster, as the deciding thread talks to it. The thread waits for
/// answers without holding the lock, and not forever.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "manager/link.h"
#include "service/notify.h"
#include "steer/known.h"
#include "steer/stage.h"

namespace almanac::steer {

class Controller {
 public:
  Controller(Known& known, std::unique_ptr<manager::Link> link, service::Watchdog& watchdog)
      : known_(known), link_(std::move(link)), watchdog_(watchdog) {}

  /// Sets a function to call at least once a second while the deciding thread waits.
  void meanwhile(std::function<void()> call) { meanwhile_ = std::move(call); }
  /// Runs `act` in another thread and waits for it. Keeps the watchdog alive until the stage takes
  /// too long.
  void wait_for(const Stage& stage, const std::function<void()>& act);
  Result<manager::News> ask_news();
  manager::Link& link() { return *link_; }
  const manager::Link& link() const { return *link_; }
  /// Pause before the next question; longer if answers take long.
  Duration pause() const;

  // Under the lock.
  /// Why the last answer failed; "" if it did not.
  const std::string& failure() const { return failure_; }
  /// What is wrong with the controller, also while an answer is overdue; "" if nothing is.
  std::string trouble() const;
  /// Duration of the last answer.
  double news_s() const { return news_s_; }

 private:
  Known& known_;
  std::unique_ptr<manager::Link> link_;  // of the thread that decides
  service::Watchdog& watchdog_;
  std::function<void()> meanwhile_;
  // Under the lock.
  std::string failure_;
  double news_s_ = 0;
  std::optional<service::Clock::Instant> asked_at_;  // what is not answered yet
};

}  // namespace almanac::steer
