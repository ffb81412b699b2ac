// SPDX-License-Identifier: Apache-2.0

/// \file
/// The controller of a Slurm cluster, as the thread that decides talks to it: it waits for each
/// answer without the lock, and not for ever.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "service/notify.h"
#include "slurm/link.h"
#include "steer/known.h"
#include "steer/stage.h"

namespace almanac::steer {

class Controller {
 public:
  Controller(Known& known, std::unique_ptr<slurm::Link> link, service::Watchdog& watchdog)
      : known_(known), link_(std::move(link)), watchdog_(watchdog) {}

  /// Called each second, or more often, while the thread that decides waits.
  void meanwhile(std::function<void()> call) { meanwhile_ = std::move(call); }
  /// Waits until others have done something: the controller, for the most part. Until that has
  /// taken too long we go on saying that we live.
  void wait_for(const Stage& stage, const std::function<void()>& act);
  Result<slurm::News> ask_news();
  slurm::Link& link() { return *link_; }
  const slurm::Link& link() const { return *link_; }
  /// How long it is left alone now: one that takes long to answer is asked less often.
  Duration pause() const;

  // Under the lock.
  /// Why the last answer failed; "" = it did not.
  const std::string& failure() const { return failure_; }
  /// What is wrong with it, also before its answer has failed; "" = nothing.
  std::string trouble() const;
  /// The last answer took so long.
  double news_s() const { return news_s_; }

 private:
  Known& known_;
  std::unique_ptr<slurm::Link> link_;  // of the thread that decides
  service::Watchdog& watchdog_;
  std::function<void()> meanwhile_;
  // Under the lock.
  std::string failure_;
  double news_s_ = 0;
  std::optional<service::Clock::Instant> asked_at_;  // what is not answered yet
};

}  // namespace almanac::steer
