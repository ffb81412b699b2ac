// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is known of models: fitted parameters, where they are from and how far off they are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/genie.h"
#include "perf/input_curve.h"
#include "perf/input_table.h"
#include "perf/sharing.h"
#include "perf/step_time.h"
#include "rules/interleave/stages.h"

namespace almanac::perf {

/// Root mean squares: of ln(fitted / measured) for speeds, of the difference for speeds beside a
/// neighbour. NaN = could not be judged.
struct FitError {
  double seen = 0;
  double held_out = 0;  ///< Of points that the fit did not see.
};

struct Input {
  InputCurve curve;
  std::string source;
  std::string gpu_type;  ///< "" = not said.
  FitError error;
  /// As measured, in place of the curve, which then tells only what is enough.
  std::shared_ptr<const InputTable> table{};

  /// How fast cores alone, memory alone feed a GPU.
  double by_cpus(double cpus_per_gpu) const {
    return table ? (*table)(cpus_per_gpu, table->memory_gb().back()) : curve.by_cpus(cpus_per_gpu);
  }
  double by_memory(double memory_gb_per_gpu) const {
    return table ? (*table)(table->cpus().back(), memory_gb_per_gpu)
                 : curve.by_memory(memory_gb_per_gpu);
  }
};

/// A model on one type of GPU.
struct Board {
  std::string gpu_type;
  std::string source;
  StepTime step;
  double least_batch = 1;  ///< Of a GPU, as measured.
  double most_batch = 1;
  int most_gpus = 1;
  FitError error;
  std::optional<Sharing> sharing;
  std::optional<interleave::Stages> stages{};  ///< Of a step at usual_batch(), as measured.

  /// The middle of what was measured: the batch of a job that says none.
  double usual_batch() const { return std::sqrt(least_batch * most_batch); }
};

/// A task whose batch and steps are told, in training or in inference.
struct Genie {
  GenieRate rate;
  double most_batch = 128;  ///< Of one GPU, as measured.
  std::string source;
  FitError error;
};

struct Model {
  std::string name;
  std::string kind;  ///< "" = unknown.
  std::optional<Input> input;
  std::vector<Board> boards;
  std::optional<Genie> training{};
  std::optional<Genie> inference{};

  const Board* find(std::string_view gpu_type) const;
};

/// What is known of a type of GPU for all models.
struct GpuClass {
  std::string type;
  double speed = 1;  ///< Mean of the models measured, relative to the first of the list.
  FitError speed_error{};
  std::optional<SharingByStep> sharing{};
  FitError sharing_error{};         ///< Of pairs.
  double sharing_unseen_error = 0;  ///< Of pairs with a model of which no pair was seen.
};

struct Catalogue {
  std::vector<GpuClass> gpus;
  std::vector<Model> models;  ///< By name.
  double startup_s = 0;       ///< Of a task of Genie, whatever its steps. nu of Eq 4.
  double theta = kTheta;      ///< What a node costs beside its GPUs. Eq 10.

  const Model* find(std::string_view name) const;
  const GpuClass* find_gpu(std::string_view type) const;
};

}  // namespace almanac::perf
