// SPDX-License-Identifier: Apache-2.0

/// \file
/// A managed cluster as service::Loop runs it.
#pragma once

#include "base/time.h"
#include "service/cluster.h"
#include "steer/changes.h"
#include "steer/controller.h"
#include "steer/intake.h"
#include "steer/known.h"
#include "steer/saving.h"
#include "steer/steering.h"
#include "steer/succession.h"
#include "steer/views.h"
#include "steer/watching.h"

namespace almanac::steer {

class SteeredCluster final : public service::Cluster {
 public:
  /// The parts of the service.
  struct Parts {
    Known& known;
    Controller& controller;
    Saving& saving;
    Intake& intake;
    Steering& steering;
    Watching& watching;
    const Views& views;
    Succession& succession;
    Changes& changes;
  };

  explicit SteeredCluster(Parts parts);

  /// Looks, decides and watches, without changing the cluster yet. Fails with unavailable if the
  /// controller does not answer.
  Result<void> begin();

  void renew(bool is_asked) override;
  void take_requests() override;
  bool look() override;
  void decide() override;
  void keep() override;
  bool act() override;
  void finish() override;
  Duration rest() const override { return parts_.controller.pause(); }
  void close() override;

 private:
  /// Decides if there is a reason to; returns whether there was.
  bool run_round();
  void slim();
  void write_status();

  Parts parts_;
  bool has_decided_ = false;  // in this step
  service::Clock::Instant next_status_{};
};

}  // namespace almanac::steer
