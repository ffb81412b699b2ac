// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast a job runs with what it was given: the one question that a simulator asks.
///
///   a GPU computes     type * power * (solo step / step at this number of GPUs and spread) *
///                      neighbours
///   a GPU is fed       cores and memory (input_curve.h)
///   the job            GPUs * the lesser of both
///
/// All GPUs keep step, so the slowest type, the node with the fewest cores or the least memory of a
/// GPU, and the most crowded GPU decide for all. A job's batch of a GPU stays what it is; but a job
/// whose batch and steps are told keeps the batch of all its GPUs, and genie.h says how much they
/// do: in place of "GPUs *" there stands 1 / latency. What a power limit takes from a GPU that
/// computes is told with the grant. GPUs wait for each other as long as ever; but a latency, which
/// is known only as a whole, gets longer as a whole.
///
/// Source   the factors say theirs. That feeding and computing overlap, so that the slower decides,
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
#include "rules/interleave/stages.h"

namespace almanac::perf {

/// A type of GPU, by SpeedModels::gpu_type(). kOtherGpu is one that nothing is known of: as fast as
/// the one that a model is known on.
enum class GpuType : std::uint16_t {};
inline constexpr GpuType kOtherGpu{0};

/// What a job holds of one node. Cores and memory that are not simulated are without bound.
struct Grant {
  int gpus = 1;
  double cpus = std::numeric_limits<double>::infinity();
  double memory_gb = std::numeric_limits<double>::infinity();
  GpuType type = kOtherGpu;
  double power = 1;  ///< How fast its GPUs compute the job under their power limit; 1 = no limit.
};

/// A model with a batch, ready to be asked. Made by SpeedModels, once for all jobs alike.
class SpeedModel {
 public:
  /// On one type of GPU. The step is in units of what one GPU computes, `fixed`.
  struct OnType {
    double alone = 1;  ///< Speed of one GPU, relative to that of the type the model is known on.
    StepTime step{.fixed = 1, .sample = 0};
    double suffers = 1;
    double causes = 1;
    double step_s = 0;  ///< Of one GPU; 0 = it is not known in seconds.
    /// Where a step is spent, in seconds; nothing = it is not known.
    std::optional<interleave::Stages> stages{};
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

  /// The speed of one of `gpus` GPUs as far as it computes, beside none; `power` as Grant::power.
  double computes(GpuType type, double power, int gpus, int nodes) const;
  /// How fast that GPU is fed; without bound where the model's input is not known.
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
  /// `reference` is not empty and has GPUs; no neighbours there.
  JobSpeed(const SpeedModel& model, std::span<const Grant> reference,
           std::optional<GenieTask> task = std::nullopt);

  /// `beside` are the other jobs of the most crowded of its GPUs; a job that `yields` has what
  /// these leave (beside.h). The grants have GPUs, and some of cores and memory; a job without is
  /// not running.
  Pace pace(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {},
            bool yields = false) const;
  double rate(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {}) const {
    return pace(grants, beside).rate;
  }
  /// The same, taken apart: from the reference to the grants, one after another in the order of
  /// Parts. What is bounded by cores is not slowed by a slower GPU, and the parts say so.
  Parts parts(std::span<const Grant> grants, std::span<const SpeedModel* const> beside = {},
              bool yields = false) const;
  /// On so many nodes, with as much for each GPU as at the reference but for `power`, and no
  /// neighbours.
  double rate(int nodes, int gpus_per_node, double power = 1) const;
  const SpeedModel& model() const { return *model_; }
  /// Where batch and steps are told and the model knows what they mean; else null.
  const GenieTask* task() const { return task_ ? &*task_ : nullptr; }

 private:
  /// What of the grants decides.
  struct Given {
    int gpus = 0;
    int nodes = 0;
    double cpus_per_gpu = std::numeric_limits<double>::infinity();
    double memory_gb_per_gpu = std::numeric_limits<double>::infinity();
    GpuType type = kOtherGpu;
    double power = 1;
    double beside = 1;  // the part of its speed alone that it keeps beside others
  };
  Given gather(std::span<const Grant> grants, std::span<const SpeedModel* const> beside,
               bool yields) const;
  double computes(const Given& given) const;
  /// What all GPUs do together, of what each does.
  double all_of(const Given& given) const;
  double speed(const Given& given) const;

  const SpeedModel* model_;
  std::optional<GenieTask> task_;
  Given reference_;
  double reference_speed_;
};

}  // namespace almanac::perf
