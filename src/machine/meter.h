// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power that the machine draws, and the energy and use that each job is charged for.
///
/// A job is charged for its GPUs while its process has them, idle or not. If the driver reports the
/// draw of a GPU, the job is charged what the board draws; if not, what a GPU adds at full use by
/// the model, and its share of its node's idle draw. A job that holds part of a GPU is charged that
/// part. Between two looks the draw is taken to be that of the later look.
///
/// The sum is kept with the time up to which it was counted, so that the next service continues
/// from there. Time in which no service looked is charged by the model.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "machine/state.h"
#include "machine/vitals.h"

namespace almanac::machine {

/// Under the lock of `State`.
class Meter {
 public:
  explicit Meter(State& state) : state_(state) {}

  /// Takes over what a look has measured.
  void look(const Sight& sight);
  /// Adds what a look has found to the use of each job.
  void count_use(const Sight& sight) const;
  /// Adds the energy that a job's process has drawn since it was last counted.
  void count_energy(Entry& entry, Time to) const;
  /// Charges no energy for time that the clock jumped over.
  void skip_clock_jump() const;

  /// In watts: as measured, or by the model; 0 without one.
  double draw_w() const;
  bool is_measured() const { return !gpu_w_.empty(); }
  /// Of all GPUs, as last measured: 0 to 1.
  std::optional<double> gpu_use() const { return gpu_use_; }

 private:
  State& state_;
  std::optional<double> gpu_use_;
  std::map<std::pair<NodeId, int>, double> gpu_w_;  // of each GPU whose draw the driver reports
};

}  // namespace almanac::machine
