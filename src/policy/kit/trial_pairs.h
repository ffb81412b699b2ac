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

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/ids.h"
#include "policy/kit/grouping.h"

namespace almanac::policy {

class TrialPairs : public Grouping {
 public:
  TrialPairs(Desk& desk, MayShare may_share, Duration trial)
      : Grouping(desk, std::move(may_share), 2), trial_(trial) {}

  void review(std::span<VcState> vcs) override;

 protected:
  struct Speeds {
    double host = 1;
    double guest = 1;

    double least() const { return std::min(host, guest); }
    double sum() const { return host + guest; }
  };
  /// Whether a pair that was measured so may stay together.
  virtual bool may_stay(const Speeds& speeds) const = 0;
  /// Of jobs like these; nothing = none was measured.
  std::optional<Speeds> measured(JobId host, JobId guest) const;
  /// That, or what is predicted; View::speeds must be there.
  Speeds believed(const Join& join) const;
  bool is_informed() const override { return desk_.view().telemetry != nullptr; }
  void joined(const Join& join) override;

 private:
  /// Jobs of one model and batch are alike; one without a model is like itself alone.
  using Kind = std::tuple<NameId, std::int32_t, JobId>;
  struct Trial {
    Time from{};
    JobId host{};
    JobId guest{};
    Duration host_worked{};
    Duration guest_worked{};
  };

  Kind kind(JobId job) const;
  double speed(JobId job, Duration worked_before, Duration time) const;

  Duration trial_;
  std::deque<Trial> trials_;
  std::map<std::pair<Kind, Kind>, Speeds> measured_;  // host, guest
};

}  // namespace almanac::policy
