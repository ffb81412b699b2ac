// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a packing that tries pairs: both are measured once they have run together for a
/// while, and a pair that does badly is parted. What was measured is remembered of pairs that are
/// alike, of the same models and batches, so that a bad pair is tried once.
///
/// The guest is stopped and waits again, which costs it a restart. Speed is the work done in the
/// time of the trial (View::worked), relative to what the host predicts without neighbours where it
/// predicts anything.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2: packing is kept where the measured
///          throughput improves, and undone where it does not.
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
  /// Whether a pair that was measured so may stay together.
  virtual bool may_stay(const Speeds& speeds) const = 0;
  /// Of jobs like these; nothing = none was measured.
  std::optional<Speeds> measured(JobId host, JobId guest) const {
    return pairs_.measured(desk_.view(), host, guest);
  }
  /// That, or what is predicted; View::speeds must be there.
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
