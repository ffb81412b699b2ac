// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of packings that try pairs: both jobs are measured once they have run together for a while,
/// and a bad pair is separated. Measurements are remembered for equal pairs (same models and
/// batches), so a bad pair is tried only once.
///
/// The guest stops and waits again, which costs it a restart. Speed is the work done during the
/// trial (View::worked), relative to the host's prediction without neighbors if there is one.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2: packing stays if the measured throughput
///          improves, and is undone otherwise.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "policy/kit/grouping.h"
#include "policy/kit/pair_speeds.h"

namespace almanac::policy {

class TrialPairs : public Grouping {
 public:
  TrialPairs(Desk& desk, MayShare may_share, Duration trial)
      : Grouping(desk, std::move(may_share), 2), trial_(trial) {}

  void review(std::span<VcState> vcs) override;

 protected:
  using Speeds = PairSpeeds::Speeds;
  /// Whether a pair with these measurements may stay together.
  virtual bool may_stay(const Speeds& speeds) const = 0;
  /// Returns the measurements of an equal pair; nothing if there are none.
  std::optional<Speeds> measured(JobId host, JobId guest) const {
    return pairs_.measured(desk_.view(), host, guest);
  }
  /// Returns those, or else the prediction. Requires View::speeds.
  Speeds believed(const Join& join) const;
  bool is_informed() const override { return desk_.view().telemetry != nullptr; }
  void joined(const Join& join) override;

 private:
  struct Trial {
    Time from{};
    JobId host{};
    JobId guest{};
    Duration host_worked{};
    Duration guest_worked{};
  };

  double speed(JobId job, Duration worked_before, Duration time) const;

  Duration trial_;
  std::deque<Trial> trials_;
  PairSpeeds pairs_;
};

}  // namespace almanac::policy
