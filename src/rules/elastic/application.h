// SPDX-License-Identifier: Apache-2.0

/// \file
/// An application whose jobs may train on different numbers of GPUs and with different batch sizes:
/// its step time by placement, and its progress per step by batch size.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 5.3, and the tables published with it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/elastic/step_model.h"

namespace almanac::elastic {

/// Seconds of one step with a given batch on each GPU, and the part spent exchanging gradients.
struct StepTime {
  double step_s = 0;
  double sync_s = 0;

  /// Returns the seconds of a pass whose gradients are kept for a later exchange.
  double accumulation_s() const { return step_s - sync_s; }
  /// Returns the step time on GPUs that compute `speed` times as fast; exchanges take as long.
  StepTime on_gpus_of(double speed) const {
    return speed == 1 ? *this : StepTime{accumulation_s() / speed + sync_s, sync_s};
  }
};

/// Measured step times, with interpolation between them.
class StepTable {
 public:
  /// Adds a measurement with `local_batch` samples per GPU. `shape` lists the GPUs of each node as
  /// decimal digits: 44 means two nodes with four GPUs each.
  void measure(std::uint64_t shape, double local_batch, StepTime time);
  /// Adds a line for shapes of `nodes` nodes and `gpus` GPUs that were not measured: for local
  /// batches from `from` to `to`, it starts at `at_from` and grows by `slope` per sample.
  void interpolate(int nodes, int gpus, int from, int to, StepTime at_from, StepTime slope);
  /// Sets the model for everything outside the measurements. Without one, at() returns nothing
  /// there.
  void otherwise(const StepModel& model) { otherwise_ = model; }
  /// Call once, after all measurements and lines were added.
  void sort();

  /// Returns the step time on `gpus_by_node`, each at least 1, in ring order. All rotations of a
  /// ring are the same shape, named by its smallest number. Returns nothing outside the
  /// measurements if there is no model. O(nodes^2).
  std::optional<StepTime> at(std::span<const int> gpus_by_node, int local_batch) const;
  /// Calls `take` with the shape, local batch and time of each measurement, in order of shape.
  void each_measured(const std::function<void(std::uint64_t, double, const StepTime&)>& take) const;

 private:
  struct Measured {
    double local_batch = 0;
    StepTime time{};
  };
  struct Segment {
    int from = 0;
    int to = 0;
    StepTime at_from{};
    StepTime slope{};
  };
  std::optional<StepTime> beyond(std::size_t nodes, int gpus, int local_batch) const;

  std::map<std::uint64_t, std::vector<Measured>> measured_;
  std::map<std::pair<int, int>, std::vector<Segment>> segments_;  // by nodes and GPUs
  int most_nodes_ = 0;
  std::optional<StepModel> otherwise_;
};

/// Gradient noise at a batch size: squared norm and variance, scaled to the initial batch.
struct Gradient {
  double sqr = 0;
  double var = 0;
};

/// State of a validation run after an epoch.
struct EpochRow {
  double progress = 0;   ///< Equivalent number of steps with the initial batch.
  double iteration = 0;  ///< Steps made.
  Gradient gradient{};
};

/// Batch sizes that a job accepts. The batch of a step counts all GPUs; a local batch is the
/// samples of one GPU in one pass.
struct BatchLimits {
  int initial_batch = 0;  ///< Reference for progress; 0 if the job does not report batch sizes.
  int max_batch = 0;
  int min_local_batch = 0;
  int max_local_batch = 0;

  bool operator==(const BatchLimits&) const = default;
};

/// What is known about an application.
struct Application {
  std::string name{};
  int initial_batch = 0;
  int max_batch = 0;
  int min_local_batch = 0;  ///< Samples per GPU.
  int max_local_batch = 0;
  int completion_epoch = 0;  ///< A job ends once it has finished more epochs than this.
  StepTable steps{};
  std::map<int, std::vector<EpochRow>> validated{};  ///< By batch size, one row per epoch.

  /// Whether runs with `batch`, or with one smaller and one larger batch, were validated.
  bool covers(double batch) const;
  /// Returns the progress after `epochs` epochs of the slowest validation run; 0 after none.
  double progress_after(int epochs) const;
  /// Returns the gradient noise in the epoch after `epochs` finished ones. Requires covers(batch).
  Gradient gradient(double batch, int epochs) const;
  /// Returns the steps until the end of the epoch after `epochs` finished ones. Requires
  /// covers(batch).
  double iterations(double batch, int epochs) const;
  /// Returns the number of epochs that all validation runs have.
  int epochs_known() const;
  operator BatchLimits() const {  // NOLINT: an application has batch limits
    return {initial_batch, max_batch, min_local_batch, max_local_batch};
  }
};

/// Returns the progress of a step with `batch`, relative to a step with `initial_batch`.
double step_gain(Gradient gradient, double batch, double initial_batch);

}  // namespace almanac::elastic
