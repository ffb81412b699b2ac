// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast a job runs with what it was given: the one question that a simulator asks.
///
///   a GPU computes     type * power * (solo step / step at this number of GPUs and spread) *
///                      neighbors
///   a GPU is fed       cores and memory (input_curve.h)
///   the job            GPUs * the lesser of both
///
/// All GPUs keep step, so the slowest type, the node with the least cores or memory per GPU, and
/// the most crowded GPU decide for all. A job keeps its batch size per GPU. A job with known batch
/// size and steps keeps its total batch size instead, and genie.h gives its speed: "GPUs *" becomes
/// 1 / latency. The grant says how much a power limit slows a computing GPU. Waiting for other GPUs
/// is not slowed; a latency, which is only known as a whole, is slowed as a whole.
///
/// Source   each factor names its own. Feeding and computing overlap, so the slower decides: this
///          is the pipeline of Synergy (Mohan et al., OSDI'22) and CoorDL.
/// Cost     bench/perf_bench.cpp; no allocation, no lock; docs/guide/perf.md has the figure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "perf/genie.h"
#include "perf/input_curve.h"
#include "perf/input_table.h"
#include "perf/pace.h"
#include "perf/step_time.h"
#include "rules/interleave/phases.h"
#include "rules/interleave/stages.h"

namespace almanac::perf {

/// A type of GPU, by SpeedModels::gpu_type(). kOtherGpu is one that nothing is known of: as fast as
/// the one that a model is known on.
enum class GpuType : std::uint16_t {};
inline constexpr GpuType kOtherGpu{0};

/// What a job holds on one node. Cores and memory that are not simulated are unlimited.
struct Grant {
  int gpus = 1;
  double cpus = std::numeric_limits<double>::infinity();
  double memory_gb = std::numeric_limits<double>::infinity();
  GpuType type = kOtherGpu;
  /// Speed of its GPUs under their power limit; 1 without one.
  double power = 1;
};

/// A model with a batch size, ready for queries. Created by SpeedModels, once for all similar jobs.
class SpeedModel {
 public:
  /// On one type of GPU. The step is in units of what one GPU computes, `fixed`.
  struct OnType {
    double alone = 1;  ///< Speed of one GPU, relative to that of the type the model is known on.
    StepTime step{.fixed = 1, .sample = 0};
    double suffers = 1;
    double causes = 1;
    double step_s = 0;  ///< On one GPU; 0 if unknown.
    /// Time of a step by stage, in seconds; nothing if unknown.
    std::optional<interleave::Stages> stages{};
    /// Phases of a step of reinforcement learning, in seconds; nothing otherwise.
    std::optional<interleave::Phases> phases{};
  };

  SpeedModel() = default;
  SpeedModel(std::vector<OnType> types, InputCurve input)
      : types_(std::move(types)), input_(input), always_fed_(false) {}
  /// `input` must outlive it.
  SpeedModel(std::vector<OnType> types, const InputTable& input)
      : types_(std::move(types)), table_(&input), always_fed_(false) {}
  explicit SpeedModel(std::vector<OnType> types) : types_(std::move(types)) {}

  const OnType& on(GpuType type) const { return types_[static_cast<std::size_t>(type)]; }
  std::size_t types() const { return types_.size(); }

  /// Returns the speed of computation on one of `gpus` GPUs without neighbors; `power` as in
  /// Grant::power.
  double computes(GpuType type, double power, int gpus, int nodes) const;
  /// Returns how fast that GPU is fed; unlimited if the model's input is unknown.
  double fed(double cpus_per_gpu, double memory_gb_per_gpu) const {
    if (always_fed_) return std::numeric_limits<double>::infinity();
    return table_ != nullptr ? (*table_)(cpus_per_gpu, memory_gb_per_gpu)
                             : input_(cpus_per_gpu, memory_gb_per_gpu);
  }

 private:
  std::vector<OnType> types_{OnType{}};
  InputCurve input_;
  const InputTable* table_ = nullptr;  // in place of input_
  bool always_fed_ = true;
};

/// A job, relative to the placement in which its run time was recorded.
class JobSpeed {
 public:
  /// `reference` is not empty and has GPUs; no neighbors there.
  JobSpeed(const SpeedModel& model, std::span<const Grant> reference,
           std::optional<GenieTask> task = std::nullopt);

  /// `beside` are the other jobs on the most crowded of its GPUs; a job that `yields` gets what
  /// these leave (beside.h). The grants must have GPUs, cores and memory.
  Pace pace(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {},
            bool yields = false) const;
  double rate(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {}) const {
    return pace(grants, beside).rate;
  }
  /// Returns the same as factors, from the reference to the grants in the order of Parts. If cores
  /// limit the speed, a slower GPU does not slow the job further, and the factors show this.
  Parts parts(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {},
              bool yields = false) const;
  /// Returns the rate on this many nodes, with the reference's resources per GPU except `power`,
  /// and without neighbors.
  double rate(int nodes, int gpus_per_node, double power = 1) const;
  const SpeedModel& model() const { return *model_; }
  /// Returns null unless batch size and steps are known and the model defines them.
  const GenieTask* task() const { return task_ ? &*task_ : nullptr; }

 private:
  /// The values of the grants that decide.
  struct Given {
    int gpus = 0;
    int nodes = 0;
    double cpus_per_gpu = std::numeric_limits<double>::infinity();
    double memory_gb_per_gpu = std::numeric_limits<double>::infinity();
    GpuType type = kOtherGpu;
    double power = 1;
    double beside = 1;  // fraction of its speed alone that it keeps next to others
  };
  Given gather(std::span<const Grant> grants, std::span<const SpeedModel* const> beside,
               bool yields) const;
  double computes(const Given& given) const;
  /// Returns the rate of all GPUs together from the rate of each.
  double all_of(const Given& given) const;
  double speed(const Given& given) const;

  const SpeedModel* model_;
  std::optional<GenieTask> task_;
  Given reference_;
  double reference_speed_;
};

}  // namespace almanac::perf
