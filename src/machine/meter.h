// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power that the machine draws, and the energy and use charged to each job.
///
/// A job is charged for its GPUs while its process has them, idle or not. If the driver reports the
/// power of a GPU, the job is charged what the board draws. Otherwise the model gives what a GPU
/// adds at full use, plus its share of its node's idle power. A job with part of a GPU is charged
/// that part. Between two measurements the power counts as that of the later one.
///
/// The total is stored with the time up to which it was counted, so that the next service continues
/// from there. The model covers time without a running service.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "machine/state.h"
#include "machine/vitals.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class Meter {
 public:
  explicit Meter(State& state) : state_(state) {}

  /// Takes over a measurement.
  void look(const Sight& sight);
  /// Adds a measurement to the use of each job.
  void count_use(const Sight& sight) const;
  /// Adds the energy that a job's process has used since it was last counted.
  void count_energy(Entry& entry, Time to) const;
  /// Skips time that the clock jumped over.
  void skip_clock_jump() const;

  /// Returns the power in watts, as measured or by the model; 0 without either.
  double draw_w() const;
  bool is_measured() const { return !gpu_w_.empty(); }
  /// Mean over all GPUs, as last measured: 0 to 1.
  std::optional<double> gpu_use() const { return gpu_use_; }

 private:
  State& state_;
  std::optional<double> gpu_use_;
  std::map<std::pair<NodeId, int>, double> gpu_w_;  // by GPU, if the driver reports its power
};

}  // namespace almanac::machine
