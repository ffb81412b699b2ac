// SPDX-License-Identifier: Apache-2.0

/// \file
/// An application whose jobs may train on more or fewer GPUs with other batches: how fast it steps
/// on which GPUs, and how far a step of which batch brings it.
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

/// Seconds of one step of a batch on each GPU, and those of them in which gradients are exchanged.
struct StepTime {
  double step_s = 0;
  double sync_s = 0;

  /// What a pass costs whose gradients are kept for a later exchange.
  double accumulation_s() const { return step_s - sync_s; }
  /// The same on GPUs that compute at `speed` beside these: exchanges take as long as ever.
  StepTime on_gpus_of(double speed) const {
    return speed == 1 ? *this : StepTime{accumulation_s() / speed + sync_s, sync_s};
  }
};

/// Measured step times, and what lies between them.
class StepTable {
 public:
  /// A measurement on `shape`, the GPUs of each node written as digits (44 = four on each of two),
  /// with `local_batch` samples a GPU.
  void measure(std::uint64_t shape, double local_batch, StepTime time);
  /// On any `gpus` of `nodes` whose shape was not measured: for local batches from `from` to `to`
  /// the line that begins at `at_from` with `slope` a sample.
  void interpolate(int nodes, int gpus, int from, int to, StepTime at_from, StepTime slope);
  /// What holds outside of what was measured; not told = nothing is known there.
  void otherwise(const StepModel& model) { otherwise_ = model; }
  /// To be called once, after the last of all.
  void sort();

  /// On `gpus_by_node`, each at least 1, in the order of the ring. Of equal rings the one that
  /// comes first as a word counts. Nothing = outside of what was measured. O(nodes^2).
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

/// Noise of the gradient at a batch: squared norm and variance, scaled to the initial batch.
struct Gradient {
  double sqr = 0;
  double var = 0;
};

/// A validation run's state after an epoch.
struct EpochRow {
  double progress = 0;   ///< Steps at the initial batch that it is worth.
  double iteration = 0;  ///< Steps made.
  Gradient gradient{};
};

/// What a job lets others do to its batch. A batch of a step is one of all its GPUs, a local batch
/// that of one GPU in one pass.
struct BatchLimits {
  int initial_batch = 0;  ///< With which its progress is counted; 0 = it tells nothing of batches.
  int max_batch = 0;
  int min_local_batch = 0;
  int max_local_batch = 0;

  bool operator==(const BatchLimits&) const = default;
};

/// What a job of the application may do, and what becomes of it.
struct Application {
  std::string name{};
  int initial_batch = 0;
  int max_batch = 0;
  int min_local_batch = 0;  ///< Samples a GPU.
  int max_local_batch = 0;
  int completion_epoch = 0;  ///< A job ends when it has finished more epochs than this.
  StepTable steps{};
  std::map<int, std::vector<EpochRow>> validated{};  ///< By batch; a row an epoch.

  /// Whether a run with `batch` was validated, or one below and one above it.
  bool covers(double batch) const;
  /// Progress after so many epochs: what the slowest validation run had made. 0 after none.
  double progress_after(int epochs) const;
  /// In the epoch that follows `epochs` finished ones; `batch` must be covered.
  Gradient gradient(double batch, int epochs) const;
  /// Steps until the end of the epoch that follows `epochs` finished ones.
  double iterations(double batch, int epochs) const;
  /// How many epochs all validation runs have.
  int epochs_known() const;
  operator BatchLimits() const {  // NOLINT: it has them
    return {initial_batch, max_batch, min_local_batch, max_local_batch};
  }
};

/// How many times further a step of `batch` brings a job than a step of `initial_batch`.
double step_gain(Gradient gradient, double batch, double initial_batch);

}  // namespace almanac::elastic
